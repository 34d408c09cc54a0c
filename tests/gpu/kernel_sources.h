// The source of a kernel, for tests that read it: its own file, and the headers of gpu/ that it includes.
#pragma once

#include <doctest/doctest.h>

#include <sstream>
#include <string>
#include <vector>

#include "gpu/registry.h"
#include "tests/program.h"

namespace flashstep::testing {

struct Source {
    std::string path;  // "gpu/kernels/softmax_1_naive.cuh"
    std::string text;
};

inline Source source_at(const std::string& path) {
    Source source{path, text_of(FLASHSTEP_SOURCE_DIR "/" + path)};
    REQUIRE_MESSAGE(!source.text.empty(), path);
    return source;
}

// Its own file first.
inline std::vector<Source> sources_of(const gpu::KernelInfo& kernel) {
    std::vector<Source> sources{source_at("gpu/kernels/" + std::string(kernel.id) + ".cuh")};
    const std::string start = "#include \"gpu/";
    std::istringstream lines(sources.front().text);
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(start)) sources.push_back(source_at(line.substr(10, line.rfind('"') - 10)));
    }
    return sources;
}

}  // namespace flashstep::testing
