// The CUDA compiler, for tests that look at what it makes of the kernels, and what they find in its PTX.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>

#include "gpu/registry.h"

namespace flashstep::testing {

// Empty: there is none.
inline std::string nvcc() {
    if (const char* given = std::getenv("CUDACXX")) return given;
    if (std::system("nvcc --version > /dev/null 2>&1") == 0) return "nvcc";
    if (std::filesystem::exists("/usr/local/cuda/bin/nvcc")) return "/usr/local/cuda/bin/nvcc";
    return {};
}

inline bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Which kernel an entry function belongs to: the longest id in its name. Null: none.
inline const gpu::KernelInfo* owner_of(const std::string& entry) {
    const gpu::KernelInfo* found = nullptr;
    for (const gpu::KernelInfo& kernel : gpu::kernels())
        if (contains(entry, kernel.id) && (!found || kernel.id.size() > found->id.size())) found = &kernel;
    return found;
}

// A unit for nvcc that launches the ladder's rungs without their probes, in all their element types and head
// dimensions: those R for which `condition` holds.
inline std::string launches_of_ladder(const std::string& condition = "true") {
    return "#include \"gpu/cuda/machine.cuh\"\n"
           "#include \"gpu/ladder.h\"\n"
           "using namespace flashstep::gpu;\n"
           "void all(cuda::Machine& m, const AttentionShape& p) {\n"
           "    Ladder::for_each([&]<class R>() {\n"
           "        if constexpr (" +
           condition +
           ") R::launch(m, p, NoProbe{});\n"
           "    });\n"
           "}\n";
}

// PTX by the name of its entry function.
inline std::map<std::string, std::string> entries_of(const std::string& ptx) {
    std::map<std::string, std::string> entries;
    for (std::size_t at = ptx.find(".entry "); at != std::string::npos;) {
        const std::size_t next = ptx.find(".entry ", at + 1);
        const std::string text = ptx.substr(at, next == std::string::npos ? next : next - at);
        entries[text.substr(7, text.find('(') - 7)] = text;
        at = next;
    }
    return entries;
}

}  // namespace flashstep::testing
