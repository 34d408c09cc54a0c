// A tensor's numbers as they lie in device memory, and on the way there and back.
#pragma once

#include <cstddef>
#include <vector>

#include "gpu/element.h"

namespace flashstep::gpu {

// Rounds to nearest, ties to even.
std::vector<std::byte> encoded(const std::vector<float>& values, Element element);
// Exact.
std::vector<float> decoded(const std::vector<std::byte>& bytes, Element element);

}  // namespace flashstep::gpu
