// The timeline: a head's steps as three bands (outer loop, inner loop, lines) over the curve of HBM bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/trace.h"
#include "lab/player.h"
#include "viz/shell/theme.h"

namespace flashstep::viz {

// What a step does, for its colour and its sign.
enum class StepKind : std::uint8_t { Inputs, Loop, Load, Store, Compute };

struct StepLook {
    StepKind kind = StepKind::Inputs;
    Family family = Family::Other;
    char letters[3] = {};  // of the tensor: "Q", "dQ"
};

// One iteration of a loop: positions first .. last. `index` is the loop's, 0-based; `axis` is 'i' or 'j'.
struct LoopRun {
    int first, last, index;
    char axis;
};

// Looked up once per trace and head, so that a frame costs what is visible: at most some work per pixel.
class Timeline {
  public:
    // `owner` keeps the trace alive: another one is another trace, even at the same address.
    void prepare(const Player& player, std::shared_ptr<const void> owner);

    int cells() const { return static_cast<int>(looks_.size()); }  // positions 0 (inputs) to count()
    const StepLook& look(int position) const { return looks_[position]; }
    const std::vector<LoopRun>& outer() const { return outer_; }
    const std::vector<LoopRun>& inner() const { return inner_; }
    // HBM bytes of this head up to and including a position, and at the end.
    std::int64_t bytes(int position) const;
    std::int64_t all_bytes() const { return bytes(cells() - 1); }

    // The part that is shown, in positions: cell p spans [p, p+1).
    double view_first() const { return first_; }
    double view_last() const { return last_; }
    void show_all();
    void zoom(double factor, double around);  // factor < 1: closer
    void follow(double position);             // moves the view so that it can be seen

  private:
    const Trace* trace_ = nullptr;
    std::shared_ptr<const void> owner_;
    int head_ = -1, base_ = 1;
    std::int64_t before_ = 0;  // bytes of the heads before
    std::vector<StepLook> looks_;
    std::vector<LoopRun> outer_, inner_;
    double first_ = 0, last_ = 1;
};

}  // namespace flashstep::viz
