// The untraced kernels compile to the same PTX as their source with the probe lines taken out. Needs nvcc.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "gpu/registry.h"
#include "gpu/rungs.h"
#include "tests/gpu/kernel_sources.h"
#include "tests/gpu/nvcc.h"
#include "tests/program.h"

namespace flashstep::gpu {

namespace {

using testing::contains;
using testing::text_of;

// Without the statements that call the probe, over as many lines as they take; `removed` counts them.
std::string without_probes(const std::string& source, int& removed) {
    std::string result;
    std::size_t from = 0;
    for (std::size_t at; (at = source.find("probe.write", from)) != std::string::npos; ++removed) {
        result += source.substr(from, at - from);
        const std::size_t end = source.find(';', at);
        REQUIRE(end != std::string::npos);
        from = end + 1;
        // What the statement depends on stays: an empty one in its place.
        result += ';';
    }
    return result + source.substr(from);
}

struct Function {
    std::string name;
    bool on_tensor_cores;  // a template over its element and the head dimension it is padded to, too
};

// The kernel functions in a source that take a probe.
std::vector<Function> traced_functions(const std::string& source) {
    const std::string start = "FS_KERNEL void ";
    std::vector<Function> functions;
    std::istringstream lines(source);
    for (std::string line, before; std::getline(lines, line); before = line) {
        if (!line.starts_with(start) || !before.starts_with("template <class Tracer")) continue;
        const bool plain = before == "template <class Tracer>";
        if (!plain) REQUIRE(before == "template <class Tracer, class T = Half, int kD = 64>");
        functions.push_back({line.substr(start.size(), line.find('(') - start.size()), !plain});
    }
    return functions;
}

// A unit that needs the untraced functions of a kernel, in every element type and head dimension. How many they are.
int write_unit(const std::string& file, const std::string& id, const std::vector<Function>& functions) {
    std::ofstream text(file);
    text << "#include \"" << id << ".cuh\"\nusing namespace flashstep::gpu;\n";
    int number = 0;
    for (const Function& function : functions) {
        std::vector<std::string> arguments{"NoProbe"};
        if (function.on_tensor_cores)
            arguments = {"NoProbe, Half, 64", "NoProbe, Half, 128", "NoProbe, BFloat, 64", "NoProbe, BFloat, 128"};
        for (const std::string& list : arguments)
            text << "void* keep_" << number++ << "() { return (void*)" << function.name << '<' << list << ">; }\n";
    }
    return number;
}

// PTX without its header, whose comments name the file.
std::string body(const std::string& ptx) {
    const std::size_t start = ptx.find(".version");
    return start == std::string::npos ? std::string() : ptx.substr(start);
}

}  // namespace

TEST_CASE("A kernel without probe is the same PTX as its source with the calls of the probe stripped") {
    const std::string compiler = testing::nvcc();
    if (compiler.empty()) {
        MESSAGE("skipped: no nvcc");
        std::exit(77);
    }
    const testing::TemporaryFolder folder;
    int compared = 0, probed = 0;
    for (const KernelInfo& kernel : kernels()) {
        const std::string id(kernel.id);
        CAPTURE(id);
        probed += !rung(id).slots.empty();
        const auto sources = testing::sources_of(kernel);
        const std::string& source = sources.front().text;
        int removed = 0;
        // Those that call the probe, beside the unit that includes them, where the compiler looks first.
        std::vector<testing::Source> original, stripped;
        for (const testing::Source& part : sources) {
            const int before = removed;
            const std::string without = without_probes(part.text, removed);
            if (&part != &sources.front() && removed == before) continue;
            CHECK(!contains(without, " probe."));  // nothing else is asked of the probe
            const std::string path = &part == &sources.front() ? id + ".cuh" : part.path;
            original.push_back({path, part.text}), stripped.push_back({path, without});
        }
        // Every slot has its call; a kernel without slots has nothing to probe.
        CHECK(removed >= static_cast<int>(rung(id).slots.size()));
        if (removed == 0) continue;
        const std::vector<Function> functions = traced_functions(source);
        REQUIRE(!functions.empty());
        const std::string unit = folder.file(id + ".cu"), output = folder.file(id + ".ptx");
        const int kept = write_unit(unit, id, functions);
        std::string ptx[2];
        for (int variant : {0, 1}) {
            for (const testing::Source& part : variant == 0 ? original : stripped) {
                const std::filesystem::path path = folder.file(part.path);
                std::filesystem::create_directories(path.parent_path());
                std::ofstream(path) << part.text;
            }
            const std::string command = compiler +
                                        " -std=c++20 -O3 -arch=compute_80 -ptx -I" FLASHSTEP_SOURCE_DIR " -o " +
                                        output + " " + unit + " 2>&1";
            REQUIRE(std::system(command.c_str()) == 0);
            ptx[variant] = body(text_of(output));
        }
        const auto entries = testing::entries_of(ptx[0]);
        CHECK(std::ranges::count_if(entries, [](const auto& e) { return contains(e.first, "NoProbe"); }) == kept);
        for (const Function& function : functions) CHECK(contains(ptx[0], function.name));
        CHECK((ptx[0] == ptx[1]));
        ++compared;
    }
    CHECK(compared == probed);
    CHECK(probed > 0);
}

}  // namespace flashstep::gpu
