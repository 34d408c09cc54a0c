// The one exception of flashstep: what is wrong, with the values, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

namespace flashstep {

// Wrong use. `what()` is one line with the values and the limit; `hint()` says what to do, and may be empty.
class Error : public std::runtime_error {
  public:
    explicit Error(const std::string& message, std::string hint = {})
        : std::runtime_error(message), hint_(std::move(hint)) {}
    const std::string& hint() const { return hint_; }

  private:
    std::string hint_;
};

}  // namespace flashstep
