// The CUDA compiler, for tests that look at what it makes of the kernels.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

namespace flashstep::testing {

// Empty: there is none.
inline std::string nvcc() {
    if (const char* given = std::getenv("CUDACXX")) return given;
    if (std::system("nvcc --version > /dev/null 2>&1") == 0) return "nvcc";
    if (std::filesystem::exists("/usr/local/cuda/bin/nvcc")) return "/usr/local/cuda/bin/nvcc";
    return {};
}

}  // namespace flashstep::testing
