// The CUDA source of every kernel, put into the program when it is built.
#pragma once

#include <string_view>

namespace flashstep::viz {

// The text of gpu/kernels/<id>.cuh; empty: there is no such kernel.
std::string_view kernel_source(std::string_view id);

}  // namespace flashstep::viz
