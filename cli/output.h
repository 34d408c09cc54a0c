// What the command line prints: JSON or a page on standard output, everything else on standard error.
#pragma once

#include <optional>
#include <string>

#include "cli/options.h"
#include "core/error.h"
#include "core/io/json.h"

namespace flashstep::cli {

// Exit statuses of the program.
constexpr int kOk = 0, kDifferent = 1, kWrongUse = 2, kUnavailable = 77;

// "flashstep: MESSAGE; HINT", one line on standard error.
void print_error(const Error& error);
void print_warning(const std::string& text);  // "flashstep: warning: ..."
void print_note(const std::string& text);     // "flashstep: ..."

// Writes to standard output. Throws Error if it cannot (a full disk; a closed pipe ends the program).
void print_page(const std::string& text);

std::string today();  // YYYY-MM-DD, where the program runs

// --json[=FILE] of a command.
class JsonOption {
  public:
    explicit JsonOption(const Options& options);
    JsonOption(const JsonOption&) = delete;  // the command line writes here
    bool on() const { return file_.has_value(); }
    const std::string& file() const { return *file_; }  // where on(); empty: standard output
    // To the file, or to standard output.
    void write(const io::Json& json, int indent = 2) const;

  private:
    std::optional<std::string> file_;
};

}  // namespace flashstep::cli
