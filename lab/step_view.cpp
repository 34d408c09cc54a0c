// Reads a step's touches and versions once.
#include "lab/step_view.h"

#include <algorithm>

#include "core/explain.h"

namespace flashstep {
namespace {

bool ends_with(const Trace& trace, int tile, int step) {
    const auto& lives = trace.lifetimes[tile];
    const auto life = std::ranges::lower_bound(lives, step, {}, &Trace::Lifetime::last);
    return life != lives.end() && life->last == step;
}

}  // namespace

const Change* StepView::move_of(int matrix) const {
    const auto found = std::ranges::find(changes.rbegin(), changes.rend(), matrix, &Change::matrix);
    return found == changes.rend() ? nullptr : &*found;
}

const Change* StepView::write_of(int tile) const {
    const auto found = std::find_if(changes.rbegin(), changes.rend(), [&](const Change& change) {
        return change.tile == tile && (change.kind == Change::Kind::Load || change.kind == Change::Kind::Write);
    });
    return found == changes.rend() ? nullptr : &*found;
}

bool StepView::reads_tile(int tile) const { return std::ranges::find(reads, tile, &Operand::tile) != reads.end(); }

StepView view_of(const Trace& trace, int number) {
    StepView view;
    view.step = number;
    if (number <= 0) return view;
    const Step& step = trace.steps[number];
    const auto operands = [&](int version) {
        return version < 0 ? std::vector<int>() : operands_of(trace, trace.versions[version].expr);
    };
    for (int k = step.touch_begin; k < step.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        Change change{.kind = Change::Kind::Write, .bytes = touch.bytes};
        switch (touch.kind) {
            case TouchKind::Read:
                view.reads.push_back({touch.tensor, touch.version, touch.bytes});
                continue;
            case TouchKind::Write:
                change.tile = touch.tensor, change.version = touch.version;
                change.operands = operands(touch.version);
                break;
            case TouchKind::Load:
                view.loaded += touch.bytes;
                // A tile that is loaded was written just before by the same assignment. What an atomic add reads was
                // not.
                if (!view.changes.empty() && touch.partner >= 0 && view.changes.back().kind == Change::Kind::Write &&
                    view.changes.back().tile == touch.partner &&
                    std::ranges::find(view.changes.back().operands, touch.version) !=
                        view.changes.back().operands.end()) {
                    change.version = view.changes.back().version;
                    view.changes.pop_back();
                } else {
                    change.version = touch.version;
                }
                change.kind = Change::Kind::Load;
                change.matrix = touch.tensor, change.block = touch.block, change.tile = touch.partner;
                break;
            case TouchKind::Store:
            case TouchKind::Init:
                view.stored += touch.bytes;
                change.kind = touch.kind == TouchKind::Store ? Change::Kind::Store : Change::Kind::Init;
                change.matrix = touch.tensor, change.block = touch.block, change.tile = touch.partner;
                change.version = touch.version;
                if (touch.partner < 0) change.operands = operands(touch.version);
                break;
        }
        view.changes.push_back(std::move(change));
    }
    view.resident = trace.resident(number);
    for (const int tile : view.resident)
        if (ends_with(trace, tile, number)) view.freed.push_back(tile);
    return view;
}

const StepView& StepViews::at(int step) {
    if (!kept_ || kept_->step != step) kept_ = view_of(*trace_, step);
    return *kept_;
}

}  // namespace flashstep
