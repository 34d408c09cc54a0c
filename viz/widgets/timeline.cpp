// What the timeline knows about a trace.
#include "viz/widgets/timeline.h"

#include <algorithm>
#include <utility>

namespace flashstep::viz {
namespace {

constexpr double kLeastCells = 6;  // the closest zoom

std::int64_t total(const Step& step) { return step.total.hbm_read + step.total.hbm_write; }

StepLook look_of(const Trace& trace, const Step& step) {
    StepLook look;
    look.kind = StepKind::Loop;
    const auto name = [&](int tensor, StepKind kind) {
        const std::string& text = trace.tensors[tensor].name;
        look.kind = kind;
        const TensorStyle style = tensor_style(text);
        look.family = style.family;
        text.copy(look.letters, style.gradient ? 2 : 1);
        if (!style.gradient) look.letters[1] = '\0';
    };
    for (int k = step.touch_begin; k < step.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        if (touch.kind == TouchKind::Store) {
            name(touch.tensor, StepKind::Store);
            return look;
        }
        if (touch.kind == TouchKind::Load && look.kind != StepKind::Load) name(touch.tensor, StepKind::Load);
    }
    // A step that computes shows the largest tile that it wrote (line 9: P, not m and l); of equals the last.
    int largest = 0;
    for (int k = step.version_begin; k < step.version_end; ++k) {
        const Version& version = trace.versions[k];
        if (trace.tensors[version.tensor].space != Space::Sram || look.kind == StepKind::Load) continue;
        if (version.rows * version.cols < largest) continue;
        largest = version.rows * version.cols;
        name(version.tensor, StepKind::Compute);
    }
    return look;
}

// Adds position p with a loop's index; -1 is outside the loop. `fresh`: a new iteration even with the same index.
void extend(std::vector<LoopRun>& runs, int p, int index, char axis, bool fresh) {
    if (index < 0) return;
    if (!fresh && !runs.empty() && runs.back().last == p - 1 && runs.back().index == index)
        runs.back().last = p;
    else
        runs.push_back({p, p, index, axis});
}

}  // namespace

void Timeline::prepare(const Player& player, std::shared_ptr<const void> owner) {
    if (owner == owner_ && trace_ == &player.trace() && head_ == player.head()) return;
    const bool same_length = trace_ && cells() == player.count() + 1;
    trace_ = &player.trace();
    owner_ = std::move(owner);
    head_ = player.head();
    base_ = player.step_at(1);
    before_ = base_ > 0 ? total(trace_->steps[base_ - 1]) : 0;
    looks_.assign(1, {});
    outer_.clear();
    inner_.clear();
    for (int p = 1; p <= player.count(); ++p) {
        const Step& step = trace_->steps[base_ + p - 1];
        looks_.push_back(look_of(*trace_, step));
        const int outer = step.rows_outer ? step.i : step.j, inner = step.rows_outer ? step.j : step.i;
        const char axis = step.rows_outer ? 'i' : 'j', other = step.rows_outer ? 'j' : 'i';
        const bool fresh =
            outer_.empty() || outer_.back().last != p - 1 || outer_.back().index != outer || outer_.back().axis != axis;
        extend(outer_, p, outer, axis, fresh);
        extend(inner_, p, outer < 0 ? -1 : inner, other, fresh);
    }
    if (!same_length) show_all();
}

std::int64_t Timeline::bytes(int position) const {
    if (!trace_ || position <= 0) return 0;
    return total(trace_->steps[base_ + position - 1]) - before_;
}

void Timeline::show_all() {
    first_ = 0;
    last_ = std::max(1, cells());
}

void Timeline::zoom(double factor, double around) {
    const double all = std::max(1, cells()), span = last_ - first_;
    const double fresh = std::clamp(span * factor, std::min(kLeastCells, all), all);
    first_ = std::clamp(around - (around - first_) * fresh / span, 0.0, all - fresh);
    last_ = first_ + fresh;
}

void Timeline::follow(double position) {
    const double span = last_ - first_, all = std::max(1, cells());
    if (position >= first_ && position + 1 <= last_) return;
    first_ = std::clamp(position - span * 0.25, 0.0, std::max(0.0, all - span));
    last_ = first_ + span;
}

}  // namespace flashstep::viz
