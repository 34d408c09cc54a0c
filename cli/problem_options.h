// The options that describe a problem: --preset, sizes, blocks, mask, precision, seed, and matrix files.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "cli/options.h"
#include "core/io/tensor_file.h"
#include "core/problem.h"

namespace flashstep::cli {

struct Request {
    Problem problem;
    Inputs inputs;                      // empty unless asked for
    std::vector<std::string> warnings;  // one line each
};

enum class Need { Sizes, Inputs };

// Registers the options with a command and keeps what was typed, in order: a --preset replaces what stands before it,
// and what stands after it overrides the preset.
class ProblemOptions {
  public:
    explicit ProblemOptions(const Options& options);
    ProblemOptions(const ProblemOptions&) = delete;  // the command's callbacks point here

    // `otherwise` stands where neither an option nor a preset nor a file says something else. Throws Error naming the
    // option, the value and the limit; or both sides of a contradiction.
    Request resolve(Need need, const Problem& otherwise = {}) const;

    bool any_given() const { return !preset_.empty() || !given_.empty() || !files_.empty() || mask_; }
    // The number format if it is all that was typed, nullopt otherwise. Throws Error for an unknown one.
    std::optional<DType> only_dtype() const;
    // Types an option in place of the person (a sweep's next value); true from `has` if it was typed before.
    void set(const std::string& option, const std::string& text) { given_[option] = text; }
    bool has(const std::string& option) const { return given_.contains(option); }

    // The preset that was asked for, empty if none.
    const std::string& preset() const { return preset_; }

  private:
    struct File {
        std::string option;  // "--q"
        io::TensorFile content;
    };
    void typed(const std::string& option, const std::string& text);
    Problem resolve_sizes(const Problem& otherwise, std::vector<std::string>& warnings) const;

    std::string preset_;
    std::map<std::string, std::string> given_;  // option name to its text; the last one counts
    std::map<std::string, File> files_;         // "Q", "K", "V", "dO", "X"
    std::optional<File> mask_;                  // its matrix is [1, nk] or [n, nk]
    std::vector<std::string> replaced_;         // options that stood before --preset
};

}  // namespace flashstep::cli
