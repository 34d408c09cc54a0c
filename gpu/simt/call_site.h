// A place in a kernel's source. (std::source_location is not there with every compiler that the project supports.)
#pragma once

#include <cstring>
#include <string>

namespace flashstep::gpu::simt {

struct CallSite {
    const char* file = "";
    int line = 0;
    static constexpr CallSite here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

inline bool same_place(const CallSite& a, const CallSite& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
}

std::string at(CallSite where);  // "file.cuh:12"

}  // namespace flashstep::gpu::simt
