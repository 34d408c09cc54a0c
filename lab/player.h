// The cursor in a trace: stepping by line, tile and row block both ways, seeking, playing, bookmarks. No window, no
// ImGui.
#pragma once

#include <set>
#include <tuple>
#include <vector>

#include "core/trace.h"
#include "lab/step_view.h"

namespace flashstep {

enum class Unit { Line, Tile, Block };  // a paper line; an iteration of the inner loop; one of the outer loop

// Shows one head at a time: its steps, and step 0, which holds the inputs. The trace must outlive the player.
class Player {
  public:
    explicit Player(const Trace& trace, int head = 0);

    const Trace& trace() const { return *trace_; }
    int head() const { return head_; }
    void set_head(int head);  // stays at the same place of the walk
    int step() const { return step_; }
    const Step& current() const { return trace_->steps[step_]; }
    // What happens in it; made when it is first asked for.
    const StepView& view() { return views_.at(step_); }
    int first() const { return 0; }
    int last() const { return last_; }
    // Position among the head's steps, 0 (inputs) to count(), for "step 17 of 64".
    int position() const { return step_ == 0 ? 0 : step_ - base_ + 1; }
    int count() const { return last_ < base_ ? 0 : last_ - base_ + 1; }
    int step_at(int position) const;  // the inverse of position(), clamped

    void seek(int step);       // clamped to this head
    void forward(Unit unit);   // to the first step of the next unit; to the end if there is none
    void backward(Unit unit);  // to the first step of this unit, or, from there, of the one before
    void home() { seek(0); }
    void end() { seek(last_); }
    bool at_end() const { return step_ == last_; }

    bool playing() const { return playing_; }
    void set_playing(bool playing);  // from the end: starts again at 0
    double speed() const { return speed_; }
    void set_speed(double lines_per_second);
    void tick(double seconds);  // moves while playing; stops at the end

    // The step shown before this one and whether the cursor came from its neighbour: only then a movement is animated.
    int previous_step() const { return previous_; }
    bool moved_by_one_line() const { return step_ == previous_ + 1 || (previous_ == 0 && step_ == base_); }

    void toggle_bookmark() {
        if (!bookmarks_.erase(step_)) bookmarks_.insert(step_);
    }
    const std::set<int>& bookmarks() const { return bookmarks_; }

    // The first step at which tile (i, j) of this head is worked on, -1: never (skipped by the mask). O(log n).
    int first_step_of_tile(int i, int j) const;
    // The last one.
    int last_step_of_tile(int i, int j) const;

  private:
    struct TileSteps {
        int i, j, first, last;
    };
    const TileSteps* find_tile(int i, int j) const;
    int unit_start(int step, Unit unit) const;
    const Trace* trace_;
    StepViews views_;
    int head_ = 0, base_ = 1, last_ = 0, step_ = 0, previous_ = 0;
    bool playing_ = false;
    double speed_ = 2, pending_ = 0;
    std::set<int> bookmarks_;
    std::vector<TileSteps> tiles_;  // sorted by (i, j)
    std::vector<int> starts_[3];    // by Unit: first steps of the units, ascending
};

}  // namespace flashstep
