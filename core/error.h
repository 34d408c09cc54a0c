// The one exception of flashstep: what is wrong, with the values, and what to do about it.
#pragma once

#include <stdexcept>
#include <string>
#include <utility>

#include "core/text.h"

namespace flashstep {

// Wrong use: one line with the values and the limit, and a hint that says what to do, which may be empty. What a person
// meets in the app has Chinese too; the command line prints what() and hint(), which are English.
class Error : public std::runtime_error {
  public:
    explicit Error(Sentence message, Sentence hint = {})
        : std::runtime_error(message.en), message_(std::move(message)), hint_(std::move(hint)) {}
    const Sentence& message() const { return message_; }
    const std::string& hint() const { return hint_.en; }
    // Message and hint in one line.
    Sentence whole() const {
        if (hint_.empty()) return message_;
        Sentence both(message_.en + ". " + hint_.en);
        if (!message_.zh.empty()) both.zh = message_.zh + "；" + hint_.in(Language::Chinese);
        return both;
    }

  private:
    Sentence message_, hint_;
};

}  // namespace flashstep
