// Runs nvcc, and keeps what it made.
#include "gpu/ptx/compile.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <vector>

#include "core/error.h"

namespace flashstep::gpu::ptx {

namespace {

namespace fs = std::filesystem;

std::string quoted(const std::string& text) {
    std::string result = "'";
    for (const char c : text) {
        if (c == '\'')
            result += "'\\''";
        else
            result += c;
    }
    return result + "'";
}

struct Ended {
    int status;
    std::string output;  // of both streams
};
Ended run(const std::string& command) {
    Ended ended{-1, {}};
    std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
    if (!pipe) return ended;
    char part[4096];
    for (std::size_t read; (read = std::fread(part, 1, sizeof part, pipe)) > 0;) ended.output.append(part, read);
    ended.status = pclose(pipe);
    return ended;
}

std::optional<std::string> text_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) return std::nullopt;
    std::ostringstream text;
    text << file.rdbuf();
    return std::move(text).str();
}

// FNV-1a, which is enough to tell versions of one's own sources apart.
struct Hash {
    std::uint64_t value = 0xcbf29ce484222325u;
    void add(std::string_view text) {
        for (const char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
        value = (value ^ 0xff) * 0x100000001b3u;
    }
};

// The text, and that of every file below `sources` that it includes.
void add_with_includes(Hash& hash, const std::string& text, const fs::path& sources, std::set<std::string>& seen) {
    hash.add(text);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("#include \"")) continue;
        const std::string name = line.substr(10, line.find('"', 10) - 10);
        if (!seen.insert(name).second) continue;
        if (const auto included = text_of(sources / name)) add_with_includes(hash, *included, sources, seen);
    }
}

fs::path cache_folder() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) return fs::path(cache) / "flashstep";
    if (const char* home = std::getenv("HOME"); home && *home) return fs::path(home) / ".cache" / "flashstep";
    return fs::temp_directory_path() / "flashstep";
}

// "fa2_forward_3_mma" is Fa2Forward3Mma in its file.
std::string type_name(std::string_view id) {
    std::string type;
    bool start = true;
    for (const char c : id) {
        if (c == '_')
            start = true;
        else
            type += start ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c, start = false;
    }
    return type;
}

}  // namespace

std::optional<Nvcc> find_nvcc() {
    std::vector<std::string> places;
    if (const char* given = std::getenv("CUDACXX"); given && *given)
        places = {given};
    else
        places = {"nvcc", "/usr/local/cuda/bin/nvcc"};
    for (const std::string& place : places) {
        const Ended ended = run(quoted(place) + " --version");
        const std::size_t at = ended.output.rfind(" V");
        if (ended.status != 0 || at == std::string::npos) continue;
        const std::size_t end = ended.output.find_first_not_of("0123456789.", at + 2);
        return Nvcc{place, ended.output.substr(at + 2, end == std::string::npos ? end : end - at - 2)};
    }
    return std::nullopt;
}

std::string source_folder() { return FLASHSTEP_SOURCE_DIR; }

std::string why_not_compile() {
    if (!find_nvcc()) return "there is no nvcc: not in CUDACXX, in PATH, or in /usr/local/cuda/bin";
    if (!fs::exists(fs::path(source_folder()) / "gpu/device.h"))
        return fmt::format("the kernels' sources are not in {} any more", source_folder());
    return {};
}

std::shared_ptr<const Module> compile_unit(const std::string& unit, const std::string& name, Target target,
                                           const std::string& sources) {
    const auto nvcc = find_nvcc();
    if (!nvcc) throw Error(why_not_compile());
    const std::string options = fmt::format("-std=c++20 -O3 -arch=compute_{} -lineinfo -ptx", text(target));
    Hash hash;
    hash.add(nvcc->version);
    hash.add(options);
    std::set<std::string> seen;
    add_with_includes(hash, unit, sources, seen);
    const std::string base = fmt::format("{}-sm_{}-{:016x}", name, text(target), hash.value);
    const fs::path folder = cache_folder(), kept = folder / (base + ".ptx");
    const auto loaded = [&](const fs::path& path) {
        return std::make_shared<const Module>(read_module(text_of(path).value_or(""), name + ".ptx"));
    };
    if (fs::exists(kept)) return loaded(kept);
    std::error_code failed;
    fs::create_directories(folder, failed);
    const std::string own = fmt::format("{}.{}-{}", base, getpid(), reinterpret_cast<std::uintptr_t>(&base));
    const fs::path source = folder / (own + ".cu"), made = folder / (own + ".ptx");
    std::ofstream(source) << unit;
    const Ended ended = run(fmt::format("{} {} -I{} -o {} {}", quoted(nvcc->path), options, quoted(sources),
                                        quoted(made.string()), quoted(source.string())));
    fs::remove(source, failed);
    if (ended.status != 0 || !fs::exists(made)) {
        fs::remove(made, failed);
        throw Error(fmt::format("nvcc does not compile {} for sm_{}: {}", name, text(target),
                                ended.output.substr(0, ended.output.find('\n'))));
    }
    fs::rename(made, kept, failed);  // at once, so that nobody reads half of it
    if (failed) throw Error(fmt::format("cannot write {}: {}", kept.string(), failed.message()));
    return loaded(kept);
}

std::shared_ptr<const Module> compile_kernel(std::string_view id, Target target, const std::string& sources) {
    if (!fs::exists(fs::path(sources) / "gpu/kernels" / (std::string(id) + ".cuh")))
        throw Error(fmt::format("the source of {} is not below {}", id, sources));
    // As the build makes it for devices (gpu/cuda/rung.cu.in).
    const std::string unit = fmt::format(
        "#include \"gpu/cuda/machine.cuh\"\n#include \"gpu/kernels/{}.cuh\"\n#include \"gpu/launch_rung.h\"\n"
        "template void flashstep::gpu::launch_rung<flashstep::gpu::{}>(flashstep::gpu::cuda::Machine&, "
        "const flashstep::gpu::AttentionShape&, const flashstep::gpu::Probe*);\n",
        id, type_name(id));
    return compile_unit(unit, std::string(id), target, sources);
}

}  // namespace flashstep::gpu::ptx
