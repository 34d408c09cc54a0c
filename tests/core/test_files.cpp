// Files from outside are read whole or refused, never waited for; files are replaced at once or not at all.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

#include "core/error.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "core/io/tensor_file.h"
#include "core/io/trace_file.h"
#include "tests/program.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

template <typename Work>
std::string error_of(Work work) {
    try {
        work();
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    std::sort(names.begin(), names.end());
    return names;
}

// No file of this process grows beyond a size while this lives: what a full disk does.
class SizeLimit {
  public:
    explicit SizeLimit(rlim_t bytes) {
        ::getrlimit(RLIMIT_FSIZE, &old_);
        old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit{bytes, old_.rlim_max};
        ::setrlimit(RLIMIT_FSIZE, &limit);
    }
    SizeLimit(const SizeLimit&) = delete;
    ~SizeLimit() {
        ::setrlimit(RLIMIT_FSIZE, &old_);
        std::signal(SIGXFSZ, old_handler_);
    }

  private:
    rlimit old_{};
    void (*old_handler_)(int) = nullptr;
};

}  // namespace

TEST_CASE("what is no regular file is refused by every reader, at once") {
    const TemporaryFolder folder;
    const std::string pipe = folder.file("pipe.npy");
    REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
    std::filesystem::create_symlink(pipe, folder.file("link.npy"));
    std::filesystem::create_symlink("/dev/zero", folder.file("zero.csv"));
    struct Row {
        std::string path, what;
    };
    const Row rows[] = {{pipe, "is a pipe, not a regular file"},
                        {folder.file("link.npy"), "is a pipe, not a regular file"},
                        {folder.file("zero.csv"), "is a device, not a regular file"},
                        {folder.path(), "is a folder, not a file"},
                        {folder.file("missing.npy"), "cannot read"}};
    for (const Row& row : rows) {
        const std::string &path = row.path, &what = row.what;
        CAPTURE(path);
        CHECK(contains(error_of([&] { io::read_file(path); }), what));
        CHECK(contains(error_of([&] { io::read_trace(path); }), what));
        CHECK(contains(error_of([&] { io::read_kernel_run(path); }), what));
        if (path != folder.path()) CHECK(contains(error_of([&] { io::read_tensor(path); }), what));
        const auto matrix = run_program({"trace", "fa2_forward", "--q", path});
        CHECK(matrix.status == 2);
        const auto trace = run_program({"trace", "--load", path});
        CHECK(trace.status == 2);
        CHECK(contains(trace.err, what));
    }
}

TEST_CASE("a file that is larger than the limit is refused before it is read") {
    const TemporaryFolder folder;
    write_text(folder.file("large"), "x");
    std::filesystem::resize_file(folder.file("large"), static_cast<std::uintmax_t>(io::kMaxFileBytes) + 1);  // sparse
    CHECK(contains(error_of([&] { io::read_file(folder.file("large")); }), "is larger than 1073741824 bytes"));
}

TEST_CASE("a failed write leaves the old file and nothing beside it") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt");
    io::write_file(path, "old");
    {
        const SizeLimit limit(1000);
        CHECK(contains(error_of([&] { io::write_file(path, std::string(100'000, 'x')); }), "cannot write"));
    }
    CHECK(text_of(path) == "old");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"a.txt"});
    io::write_file(path, "new");
    CHECK(text_of(path) == "new");
    CHECK(names_in(folder.path()) == std::vector<std::string>{"a.txt"});
    CHECK(contains(error_of([&] { io::write_file(folder.path(), "x"); }), "Is a directory"));
    CHECK(contains(error_of([&] { io::write_file(folder.file("none/a"), "x"); }), "No such file"));
}

TEST_CASE("links stay links, permissions stay, and devices are written to") {
    const TemporaryFolder folder;
    const std::string path = folder.file("a.txt"), link = folder.file("link"), dangling = folder.file("dangling");
    io::write_file(path, "old");
    REQUIRE(::chmod(path.c_str(), 0640) == 0);
    std::filesystem::create_symlink(path, link);
    io::write_file(link, "new");
    CHECK(std::filesystem::is_symlink(link));
    CHECK(text_of(path) == "new");
    CHECK(std::filesystem::status(path).permissions() == static_cast<std::filesystem::perms>(0640));
    std::filesystem::create_symlink(folder.file("b.txt"), dangling);
    io::write_file(dangling, "there");
    CHECK(text_of(folder.file("b.txt")) == "there");
    io::write_file("/dev/null", "x");
    CHECK(std::filesystem::is_character_file("/dev/null"));
    CHECK(contains(error_of([&] { io::write_file("/dev/full", "x"); }), "No space left"));
}
