// A place in a kernel's source. (std::source_location is not there with every compiler that the project supports.)
#pragma once

#include <string>

namespace flashstep::gpu::simt {

struct CallSite {
    const char* file = "";
    int line = 0;
    static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

std::string at(CallSite where);  // "file.cuh:12"

}  // namespace flashstep::gpu::simt
