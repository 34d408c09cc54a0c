// The untraced kernels compile to the same PTX as their source with the probe lines taken out. Needs nvcc.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <vector>

#include "gpu/registry.h"
#include "tests/nvcc.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

using testing::text_of;

// Without the lines that call the probe; `removed` counts them.
std::string without_probes(const std::string& source, int& removed) {
    std::istringstream lines(source);
    std::string result;
    for (std::string line; std::getline(lines, line);) {
        if (line.find("probe.write(") != std::string::npos) {
            ++removed;
        } else {
            result += line + "\n";
        }
    }
    return result;
}

// The kernel functions in a source that take a probe; their other template parameters have defaults.
std::vector<std::string> traced_functions(const std::string& source) {
    const std::string start = "FS_KERNEL void ";
    std::vector<std::string> names;
    std::istringstream lines(source);
    for (std::string line, before; std::getline(lines, line); before = line) {
        if (line.starts_with(start) && before.starts_with("template <class Tracer"))
            names.push_back(line.substr(start.size(), line.find('(') - start.size()));
    }
    return names;
}

// PTX without its header, whose comments name the file.
std::string body(const std::string& ptx) {
    const std::size_t start = ptx.find(".version");
    return start == std::string::npos ? std::string() : ptx.substr(start);
}

}  // namespace

TEST_CASE("A kernel without probe is the same PTX as its source with the probe lines stripped") {
    const std::string compiler = testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const testing::TemporaryFolder folder;
    int compared = 0;
    for (const KernelInfo& kernel : kernels()) {
        const std::string id(kernel.id);
        const std::string source = text_of(FLASHSTEP_SOURCE_DIR "/gpu/kernels/" + id + ".cuh");
        int removed = 0;
        const std::string stripped = without_probes(source, removed);
        if (removed == 0) continue;  // nothing to probe: its slots are its tensors
        const std::vector<std::string> functions = traced_functions(source);
        CAPTURE(id);
        REQUIRE(!functions.empty());
        std::string ptx[2];
        for (int variant : {0, 1}) {
            const std::string unit = folder.file(id + ".cu"), output = folder.file(id + ".ptx");
            std::ofstream(folder.file(id + ".cuh")) << (variant == 0 ? source : stripped);
            std::ofstream text(unit);
            text << "#include \"" << id << ".cuh\"\n";
            for (const std::string& function : functions) {
                text << "void* keep_" << function << "() { return (void*)flashstep::gpu::" << function
                     << "<flashstep::gpu::NoProbe>; }\n";
            }
            text.close();
            const std::string command = compiler +
                                        " -std=c++20 -O3 -arch=compute_80 -ptx -I" FLASHSTEP_SOURCE_DIR " -o " +
                                        output + " " + unit + " 2>&1";
            REQUIRE(std::system(command.c_str()) == 0);
            ptx[variant] = body(text_of(output));
        }
        CHECK(ptx[0].size() > 1000);
        for (const std::string& function : functions) CHECK(ptx[0].find(function) != std::string::npos);
        CHECK(ptx[0].find(".entry") != std::string::npos);
        CHECK((ptx[0] == ptx[1]));
        ++compared;
    }
    CHECK(compared > 0);
}

}  // namespace flashstep::gpu
