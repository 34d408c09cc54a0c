// Who may include whom, and which macros there may be: the rules of the folders, read from the source files themselves.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

// g++ 12 with -fsanitize finds uninitialised members in its own <regex>.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Source {
    std::string path;  // from the root: "core/trace.h"
    std::string text;
};

bool starts_with_any(const std::string& text, const std::vector<std::string>& prefixes) {
    for (const std::string& prefix : prefixes)
        if (text.starts_with(prefix)) return true;
    return false;
}

bool is_source(const fs::path& path) {
    static const std::set<std::string> kinds = {".h", ".cpp", ".cu", ".cuh"};
    return kinds.contains(path.extension().string());
}

std::vector<Source> project_sources() {
    std::vector<Source> sources;
    const fs::path root = FLASHSTEP_SOURCE_DIR;
    for (const char* folder : {"core", "gpu", "lab", "lessons", "cli", "viz", "tests"})
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            if (!entry.is_regular_file() || !is_source(entry.path())) continue;
            std::ostringstream text;
            text << std::ifstream(entry.path()).rdbuf();
            sources.push_back({fs::relative(entry.path(), root).generic_string(), text.str()});
        }
    return sources;
}

struct Include {
    std::string name;
    bool quoted;
};

std::vector<Include> includes_of(const Source& source) {
    static const std::regex pattern(R"(^\s*#\s*include\s*([<"])([^">]+)[">])");
    std::vector<Include> found;
    std::istringstream lines(source.text);
    for (std::string line; std::getline(lines, line);)
        if (std::smatch match; std::regex_search(line, match, pattern)) found.push_back({match[2], match[1] == "\""});
    return found;
}

// Folders of ours that the files of a folder may include. The first prefix that fits a file counts: the program's own
// files join the command line and the window.
const std::vector<std::pair<std::string, std::vector<std::string>>> kMayInclude = {
    {"core/", {"core/"}},
    {"gpu/", {"core/", "gpu/"}},
    {"lab/", {"core/", "gpu/", "lab/"}},
    {"lessons/", {"core/", "gpu/", "lab/", "lessons/"}},
    {"cli/program/", {"cli/", "viz/shell/"}},
    {"cli/", {"core/", "gpu/", "lab/", "lessons/", "cli/"}},
    {"viz/", {"core/", "gpu/", "lab/", "lessons/", "viz/"}},
    {"tests/", {"core/", "gpu/", "lab/", "lessons/", "cli/", "viz/", "tests/"}},
};

// Parts of gpu/ that hold CUDA or are compiled for the executor only: others read the plain headers beside them.
const std::vector<std::string> kInsideGpu = {"gpu/cuda/", "gpu/simt/", "gpu/kernels/", "gpu/device.h"};

const std::vector<std::string> kWindowLibraries = {"imgui", "GLFW", "GL/", "KHR/"};

void check_include(const Source& source, const Include& include, std::vector<std::string>& faults) {
    const auto fault = [&](const std::string& why) {
        faults.push_back(source.path + " includes " + include.name + ": " + why);
    };
    if (include.quoted) {
        for (const auto& [folder, allowed] : kMayInclude) {
            if (!source.path.starts_with(folder)) continue;
            if (!starts_with_any(include.name, allowed)) fault("not a folder that it may include");
            break;
        }
        if (!starts_with_any(source.path, {"gpu/", "tests/"}) && starts_with_any(include.name, kInsideGpu))
            fault("gpu's plain C++ headers only are for others to read");
        return;
    }
    if (include.name.starts_with("nlohmann/") && !source.path.starts_with("core/io/"))
        fault("JSON comes through core/io only");
    if (starts_with_any(include.name, kWindowLibraries) && !starts_with_any(source.path, {"viz/", "tests/viz/"}))
        fault("the window's libraries are for viz only");
    if (starts_with_any(include.name, {"cuda", "nv"}) &&
        !starts_with_any(source.path, {"gpu/cuda/", "gpu/device.h", "tests/gpu/fake_cudart."}))
        fault("CUDA's headers are for gpu/cuda, gpu/device.h and the runtime that tests put in CUDA's place");
}

// Macros that may be defined: the qualifiers of gpu/device.h, CUDA_CHECK, and the switches of other people's headers.
void check_macros(const Source& source, std::vector<std::string>& faults) {
    static const std::regex pattern(R"(^\s*#\s*define\s+(\w+))");
    static const std::vector<std::string> kSwitches = {"DOCTEST_CONFIG_", "GLFW_INCLUDE_", "IMGUI_DEFINE_",
                                                       "STB_IMAGE_WRITE_"};
    std::istringstream lines(source.text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (!std::regex_search(line, match, pattern)) continue;
        const std::string name = match[1];
        const bool allowed = starts_with_any(name, kSwitches) ||
                             (source.path == "gpu/device.h" && name.starts_with("FS_")) ||
                             (source.path.starts_with("gpu/cuda/") && name == "CUDA_CHECK") ||
                             name == "__SANITIZE_ADDRESS__";  // g++'s own, given to clang
        if (!allowed) faults.push_back(source.path + " defines the macro " + name);
    }
}

// The files that nvcc reads: .cu, .cuh, gpu/device.h, and all of ours that they include. The executor's headers stand
// in the branch of gpu/device.h that only the host's compiler reads.
std::set<std::string> read_by_nvcc(const std::map<std::string, Source>& by_path) {
    std::vector<std::string> open = {"gpu/device.h"};
    for (const auto& [path, source] : by_path)
        if (path.ends_with(".cu") || path.ends_with(".cuh")) open.push_back(path);
    std::set<std::string> seen;
    while (!open.empty()) {
        const std::string path = open.back();
        open.pop_back();
        const auto found = by_path.find(path);
        if (found == by_path.end() || !seen.insert(path).second) continue;
        for (const Include& include : includes_of(found->second))
            if (include.quoted && !include.name.starts_with("gpu/simt/")) open.push_back(include.name);
    }
    return seen;
}

// Ways from a file back to itself along includes, "a.h -> b.h -> a.h": one for each circle that is met.
std::vector<std::string> circles(const std::vector<Source>& sources) {
    std::map<std::string, std::set<std::string>> uses;
    for (const Source& source : sources)
        for (const Include& include : includes_of(source))
            if (include.quoted) uses[source.path].insert(include.name);
    std::vector<std::string> found, way;
    std::set<std::string> done;
    const auto visit = [&](const auto& self, const std::string& file) -> void {
        if (const auto before = std::ranges::find(way, file); before != way.end()) {
            std::string text;
            for (auto at = before; at != way.end(); ++at) text += *at + " -> ";
            found.push_back("includes go in a circle: " + text + file);
            return;
        }
        if (!done.insert(file).second) return;
        way.push_back(file);
        for (const std::string& next : uses[file]) self(self, next);
        way.pop_back();
    };
    for (const Source& source : sources) visit(visit, source.path);
    return found;
}

// Everything that is wrong with a tree.
std::vector<std::string> faults_of(const std::vector<Source>& sources) {
    std::vector<std::string> faults = circles(sources);
    std::map<std::string, Source> by_path;
    for (const Source& source : sources) {
        by_path[source.path] = source;
        for (const Include& include : includes_of(source)) check_include(source, include, faults);
        check_macros(source, faults);
    }
    for (const std::string& path : read_by_nvcc(by_path))
        for (const Include& include : includes_of(by_path.at(path)))
            if (include.name.starts_with("Eigen/")) faults.push_back(path + " includes Eigen, but nvcc reads it");
    return faults;
}

}  // namespace

TEST_CASE("no file includes what its folder may not, and no macro is defined beside the few allowed ones") {
    const std::vector<Source> sources = project_sources();
    CHECK(sources.size() > 30);
    for (const std::string& fault : faults_of(sources)) FAIL_CHECK(fault);
}

TEST_CASE("a file that breaks a rule is found") {
    const Source wrong[] = {
        {"core/a.h", "#include \"gpu/run.h\"\n"},
        {"core/a.h", "  #  include \"lab/presets.h\"\n"},
        {"core/algorithms/a.cpp", "#include \"viz/shell/app.h\"\n"},
        {"core/a.cpp", "#include <nlohmann/json.hpp>\n"},
        {"core/a.cpp", "#include <imgui.h>\n"},
        {"gpu/a.h", "#include \"lab/presets.h\"\n"},
        {"gpu/a.cpp", "#include \"tests/program.h\"\n"},
        {"gpu/a.cpp", "#include <cuda_runtime.h>\n"},
        {"lab/a.cpp", "#include \"lessons/lessons.h\"\n"},
        {"lab/a.cpp", "#include \"cli/names.h\"\n"},
        {"lab/a.cpp", "#include \"viz/shell/ui.h\"\n"},
        {"lab/a.cpp", "#include \"gpu/simt/executor.h\"\n"},
        {"lab/a.cpp", "#include <imgui.h>\n"},
        {"lessons/a.cpp", "#include \"viz/shell/ui.h\"\n"},
        {"lessons/a.cpp", "#include \"gpu/kernels/a.cuh\"\n"},
        {"viz/panels/a.cpp", "#include \"gpu/cuda/device.h\"\n"},
        {"viz/text/a.cpp", "#include \"gpu/device.h\"\n"},
        {"viz/shell/a.cpp", "#include \"tests/program.h\"\n"},
        {"viz/shell/a.cpp", "#include \"cli/names.h\"\n"},
        {"cli/a.cpp", "#include <GLFW/glfw3.h>\n"},
        {"cli/a.cpp", "#include \"viz/shell/app.h\"\n"},
        {"cli/program/a.cpp", "#include \"viz/panels/where.h\"\n"},
        {"viz/shell/a.cpp", "#include \"neighbour.h\"\n"},
        {"tests/lab/a.cpp", "#include <imgui.h>\n"},
        {"gpu/kernels/a.cuh", "#include <Eigen/Dense>\n"},
        {"gpu/device.h", "#include <Eigen/Core>\n"},
        {"core/a.h", "#define SQUARE(x) ((x) * (x))\n"},
        {"gpu/a.h", "# define FS_NEW 1\n"},
    };
    for (const Source& source : wrong) {
        CAPTURE(source.path);
        CAPTURE(source.text);
        CHECK(faults_of({source}).size() == 1);
    }
    // Through another header, too.
    CHECK(faults_of({{"gpu/cuda/a.cu", "#include \"core/b.h\"\n"}, {"core/b.h", "#include <Eigen/Dense>\n"}}).size() ==
          1);
    CHECK(faults_of({{"gpu/a.cpp", "#include \"core/b.h\"\n"}, {"core/b.h", "#include <Eigen/Dense>\n"}}).empty());
    CHECK(faults_of({{"viz/shell/a.cpp", "#include \"gpu/run.h\"\n#include <imgui.h>\n// #include \"tests/x.h\"\n"}})
              .empty());
    CHECK(faults_of({{"cli/program/window.cpp", "#include \"viz/shell/app.h\"\n"}}).empty());
}

TEST_CASE("includes that go in a circle are found") {
    CHECK(circles({{"core/a.h", "#include \"core/b.h\"\n"}, {"core/b.h", "#include \"core/a.h\"\n"}}).size() == 1);
    CHECK(circles({{"core/a.h", "#include \"core/b.h\"\n"},
                   {"core/b.h", "#include \"core/c.h\"\n"},
                   {"core/c.h", "#include \"core/a.h\"\n"}}) ==
          std::vector<std::string>{"includes go in a circle: core/a.h -> core/b.h -> core/c.h -> core/a.h"});
    CHECK(circles({{"core/a.cpp", "#include \"core/a.h\"\n"}, {"core/b.h", "#include \"core/a.h\"\n"}}).empty());
}
