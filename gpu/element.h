// The number formats of tensors in device memory. Plain C++, read by nvcc too.
#pragma once

namespace flashstep::gpu {

enum class Element { Fp32, Fp16, BFloat16 };

constexpr int bytes_of(Element element) { return element == Element::Fp32 ? 4 : 2; }

}  // namespace flashstep::gpu
