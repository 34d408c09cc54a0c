// Stepping through a trace.
#include "lab/player.h"

#include <algorithm>

namespace flashstep {
namespace {

// A unit starts where the loop index that defines it changes.
bool same_unit(const Step& a, const Step& b, Unit unit) {
    if (unit == Unit::Line || a.rows_outer != b.rows_outer) return false;
    const bool outer = a.rows_outer ? a.i == b.i : a.j == b.j;
    return unit == Unit::Block ? outer : a.i == b.i && a.j == b.j;
}

}  // namespace

Player::Player(const Trace& trace, int head) : trace_(&trace), views_(trace), head_(-1) { set_head(head); }

void Player::set_head(int head) {
    if (head == head_) return;
    const int place = position();
    head_ = head;
    std::tie(base_, last_) = trace_->head_range(head);
    tiles_.clear();
    for (auto& starts : starts_) starts.assign(1, 0);
    for (int s = base_; s <= last_ && s > 0; ++s) {
        const Step& step = trace_->steps[s];
        for (Unit unit : {Unit::Line, Unit::Tile, Unit::Block})
            if (s == base_ || !same_unit(trace_->steps[s - 1], step, unit))
                starts_[static_cast<int>(unit)].push_back(s);
        if (step.i < 0 || step.j < 0) continue;
        if (tiles_.empty() || tiles_.back().i != step.i || tiles_.back().j != step.j)
            tiles_.push_back({step.i, step.j, s, s});
        tiles_.back().last = s;
    }
    // Several passes over a row work on the same element: keep its first and its last step.
    std::stable_sort(tiles_.begin(), tiles_.end(),
                     [](const TileSteps& a, const TileSteps& b) { return std::pair(a.i, a.j) < std::pair(b.i, b.j); });
    std::vector<TileSteps> merged;
    for (const TileSteps& tile : tiles_) {
        if (!merged.empty() && merged.back().i == tile.i && merged.back().j == tile.j)
            merged.back().last = tile.last;
        else
            merged.push_back(tile);
    }
    tiles_ = std::move(merged);
    step_ = previous_ = step_at(place);
}

int Player::step_at(int position) const {
    if (position <= 0 || base_ == 0) return 0;
    return std::min(base_ + position - 1, last_);
}

void Player::seek(int step) {
    step = step <= 0 || base_ == 0 ? 0 : std::clamp(step, base_, last_);
    if (step == step_) return;
    previous_ = step_;
    step_ = step;
}

int Player::unit_start(int step, Unit unit) const {
    const auto& starts = starts_[static_cast<int>(unit)];
    return *(std::upper_bound(starts.begin(), starts.end(), step) - 1);
}

void Player::forward(Unit unit) {
    const auto& starts = starts_[static_cast<int>(unit)];
    const auto next = std::upper_bound(starts.begin(), starts.end(), step_);
    seek(next == starts.end() ? last_ : *next);
}

void Player::backward(Unit unit) {
    if (step_ == 0) return;
    const int start = unit_start(step_, unit);
    seek(start < step_ ? start : unit_start(step_ - 1, unit));
}

void Player::set_playing(bool playing) {
    if (playing && at_end()) home();
    playing_ = playing;
    pending_ = 0;
}

void Player::set_speed(double lines_per_second) { speed_ = std::clamp(lines_per_second, 0.05, 1000.0); }

void Player::tick(double seconds) {
    if (!playing_) return;
    pending_ += std::clamp(seconds, 0.0, 1.0) * speed_;
    for (; pending_ >= 1 && !at_end(); pending_ -= 1) forward(Unit::Line);
    if (at_end()) playing_ = false;
}

const Player::TileSteps* Player::find_tile(int i, int j) const {
    const auto found = std::lower_bound(tiles_.begin(), tiles_.end(), std::pair(i, j),
                                        [](const TileSteps& t, const auto& key) { return std::pair(t.i, t.j) < key; });
    return found != tiles_.end() && found->i == i && found->j == j ? &*found : nullptr;
}

int Player::first_step_of_tile(int i, int j) const {
    const TileSteps* tile = find_tile(i, j);
    return tile ? tile->first : -1;
}

int Player::last_step_of_tile(int i, int j) const {
    const TileSteps* tile = find_tile(i, j);
    return tile ? tile->last : -1;
}

}  // namespace flashstep
