// What was asked for, in order, to go back and forth in: like undo in an editor, but over requests that may still be
// running, and may fail.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "lab/recipe.h"

namespace flashstep {

// Holds the last kMost requests, and fewer where their inputs take more than kMostNumbers numbers.
class History {
  public:
    static constexpr std::size_t kMost = 100, kMostNumbers = std::size_t{1} << 25;  // 256 MiB

    bool empty() const { return all_.empty(); }
    std::size_t size() const { return all_.size(); }
    // What was asked for last, or went back or forth to; a default before the first request.
    const Recipe& now() const { return *shared_now(); }
    std::shared_ptr<const Recipe> shared_now() const;

    // A new request after now(); what lay ahead goes. The same again changes nothing.
    void add(Recipe recipe);
    bool can_go_back() const { return at_ > 0; }
    bool can_go_forth() const { return at_ + 1 < all_.size(); }
    void go_back();
    void go_forth();

    // now() is what is shown from here on.
    void mark_shown() { shown_ = static_cast<std::ptrdiff_t>(at_); }
    bool at_shown() const { return shown_ == static_cast<std::ptrdiff_t>(at_) && !empty(); }
    // now() cannot be had: it goes, and now() is where it was reached from. False: there is nothing else.
    bool take_back();
    // Back, or forth, to `shown`, which is shown; what lies between stays ahead, or behind.
    void return_to_shown(const Recipe& shown);

  private:
    enum class Came { Forth, Back };
    void forget_oldest();
    std::vector<std::shared_ptr<const Recipe>> all_;
    std::size_t at_ = 0;
    std::ptrdiff_t shown_ = -1;  // -1: what is shown is not among them
    Came came_ = Came::Forth;    // how now() was reached
};

}  // namespace flashstep
