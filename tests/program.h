// Runs the program as a person does: arguments in; exit status, standard output and standard error out.
#pragma once

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

extern char** environ;

namespace flashstep::testing {

// A folder that goes away with its owner.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "flashstep_XXXXXX").string();
        if (!::mkdtemp(name.data())) std::abort();
        path_ = name;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    std::string file(const std::string& name) const { return (path_ / name).string(); }
    std::string path() const { return path_.string(); }

  private:
    std::filesystem::path path_;
};

inline std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

inline void write_text(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

struct Output {
    int status;  // 128 + signal if it was killed
    std::string out, err;
};

// Runs `words`, the first of which is a program (a path, or a name to be looked up). Without a display, unless
// `environment` (NAME=value) says otherwise: later entries win.
inline Output run_words(std::vector<std::string> words, const std::vector<std::string>& environment = {}) {
    const TemporaryFolder folder;
    std::vector<char*> argv, envp;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    std::vector<std::string> variables;
    const auto name_of = [](const std::string& entry) { return entry.substr(0, entry.find('=')); };
    for (char** entry = environ; *entry; ++entry) {
        const std::string name = name_of(*entry);
        bool kept = name != "DISPLAY" && name != "WAYLAND_DISPLAY";
        for (const std::string& own : environment) kept = kept && name != name_of(own);
        if (kept) variables.emplace_back(*entry);
    }
    variables.insert(variables.end(), environment.begin(), environment.end());
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);

    const std::string out = folder.file("out"), err = folder.file("err");
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, err.c_str(), O_WRONLY | O_CREAT, 0600);
    pid_t child = 0;
    const int failed = ::posix_spawnp(&child, argv.front(), &actions, nullptr, argv.data(), envp.data());
    posix_spawn_file_actions_destroy(&actions);
    if (failed) return {-1, "", "cannot start " + words.front()};
    int status = 0;
    ::waitpid(child, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(out), text_of(err)};
}

// The same for flashstep with `arguments`.
inline Output run_program(const std::vector<std::string>& arguments, const std::vector<std::string>& environment = {}) {
    std::vector<std::string> words = {FLASHSTEP_BINARY};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return run_words(std::move(words), environment);
}

// The same in folder `where`, as somebody who may not write wherever root may. The program is copied into `folder`,
// which everybody may enter: the build's own folder may be root's alone.
inline Output run_as_nobody(const TemporaryFolder& folder, const std::string& where,
                            const std::vector<std::string>& arguments) {
    std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
    const std::string copy = folder.file("flashstep");
    std::filesystem::copy_file(FLASHSTEP_BINARY, copy, std::filesystem::copy_options::overwrite_existing);
    std::vector<std::string> words = {"python3", "-c",
                                      "import os, sys; os.chdir(sys.argv[1]); os.geteuid() or os.setuid(65534); "
                                      "os.execv(sys.argv[2], sys.argv[2:])",
                                      where, copy};
    words.insert(words.end(), arguments.begin(), arguments.end());
    // A sanitizer's list of leaks to pass over may lie where only root reads.
    return run_words(std::move(words), {"LSAN_OPTIONS=", "ASAN_OPTIONS=detect_leaks=0"});
}

}  // namespace flashstep::testing
