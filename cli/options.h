// The options and arguments of one command. CLI11 stands behind it: its headers cost seconds in each file that reads
// them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace flashstep::cli {

// What is registered here has to live until the command line was read: values are written then, and functions are
// called in the order in which their options were typed. A name is "--on" for an option, "KERNEL" for an argument;
// `type` is what help shows behind an option, "FILE".
class Options {
  public:
    explicit Options(CLI::App& command) : command_(&command) {}

    void text(const char* name, std::string& value, const std::string& help, const char* type = "") const;
    void texts(const char* name, std::vector<std::string>& values, const std::string& help) const;
    void flag(const char* name, bool& value, const std::string& help) const;
    // NAME or NAME=VALUE: nullopt where it was not typed, empty without a value. `check` sees each value that is none.
    void flag_or_value(const char* name, std::optional<std::string>& value, const std::string& help,
                       std::function<void(const std::string&)> check) const;

    // The options that describe a problem, in a group of their own in the help.
    void problem(const std::string& name, const char* type, const std::string& help,
                 std::function<void(const std::string&)> typed) const;
    void problem_switch(const std::string& word, const std::string& help, std::function<void(bool)> typed) const;

    void footer(const std::string& text) const;

    // Names of what was typed, without dashes, once the command line was read.
    std::vector<std::string> given() const;

  private:
    CLI::App* command_;
};

}  // namespace flashstep::cli
