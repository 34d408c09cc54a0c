// A list of recipes with a place in it.
#include "lab/history.h"

#include <algorithm>

namespace flashstep {
namespace {

std::size_t numbers_in(const Inputs& inputs) {
    Eigen::Index count = inputs.mask.size();
    for (const auto* all : {&inputs.Q, &inputs.K, &inputs.V, &inputs.dO, &inputs.X})
        for (const Matrix& matrix : *all) count += matrix.size();
    return static_cast<std::size_t>(count);
}

}  // namespace

std::shared_ptr<const Recipe> History::shared_now() const {
    static const auto nothing = std::make_shared<const Recipe>();
    return empty() ? nothing : all_[at_];
}

void History::add(Recipe recipe) {
    came_ = Came::Forth;
    if (!empty() && recipe == now()) return;
    all_.resize(empty() ? 0 : at_ + 1);
    if (shown_ >= static_cast<std::ptrdiff_t>(all_.size())) shown_ = -1;
    all_.push_back(std::make_shared<const Recipe>(std::move(recipe)));
    at_ = all_.size() - 1;
    forget_oldest();
}

void History::forget_oldest() {
    std::size_t numbers = 0, first = all_.size();
    while (first > 0 && all_.size() - first < kMost) {
        numbers += numbers_in(all_[first - 1]->inputs);
        if (numbers > kMostNumbers && first < all_.size()) break;
        --first;
    }
    all_.erase(all_.begin(), all_.begin() + static_cast<std::ptrdiff_t>(first));
    at_ -= first;
    shown_ = std::max<std::ptrdiff_t>(shown_ - static_cast<std::ptrdiff_t>(first), -1);
}

void History::go_back() {
    if (!can_go_back()) return;
    --at_;
    came_ = Came::Back;
}

void History::go_forth() {
    if (!can_go_forth()) return;
    ++at_;
    came_ = Came::Forth;
}

bool History::take_back() {
    if (all_.size() < 2) return false;
    if (at_shown()) return true;  // it could be had before, so that it stays
    all_.erase(all_.begin() + static_cast<std::ptrdiff_t>(at_));
    if (shown_ > static_cast<std::ptrdiff_t>(at_)) --shown_;
    // What came after it has moved up to its place.
    if ((came_ == Came::Forth && at_ > 0) || at_ == all_.size()) --at_;
    return true;
}

void History::return_to_shown(const Recipe& shown) {
    if (shown_ < 0) {
        add(shown);
        mark_shown();
        return;
    }
    came_ = shown_ < static_cast<std::ptrdiff_t>(at_) ? Came::Back : Came::Forth;
    at_ = static_cast<std::size_t>(shown_);
}

}  // namespace flashstep
