// Looks loads and stores up in the trace, once per run.
#include "viz/panels/memory_moves.h"

#include <algorithm>

namespace flashstep::viz {

std::vector<std::vector<BlockMove>> find_moves(const Trace& trace) {
    std::vector<std::vector<BlockMove>> moves(trace.tensors.size());
    for (int s = 1; s <= trace.last_step(); ++s) {
        for (int k = trace.steps[s].touch_begin; k < trace.steps[s].touch_end; ++k) {
            const Touch& touch = trace.touches[k];
            if (touch.partner < 0 || (touch.kind != TouchKind::Load && touch.kind != TouchKind::Store)) continue;
            const auto& lives = trace.lifetimes[touch.partner];
            const auto after = std::upper_bound(
                lives.begin(), lives.end(), s, [](int step, const Trace::Lifetime& life) { return step < life.first; });
            if (after == lives.begin()) continue;
            moves[touch.tensor].push_back({s, touch.block, touch.kind, (after - 1)->first, (after - 1)->last});
        }
    }
    return moves;
}

int block_on_chip(std::span<const BlockMove> moves, int step) {
    const auto next =
        std::upper_bound(moves.begin(), moves.end(), step, [](int s, const BlockMove& move) { return s < move.step; });
    const BlockMove* before = next == moves.begin() ? nullptr : &*(next - 1);
    if (before && before->last < step) before = nullptr;
    if (before && before->kind == TouchKind::Load) return before->block;
    // A tile that will be stored belongs to the block that it is going to.
    if (next != moves.end() && next->kind == TouchKind::Store && next->first <= step) return next->block;
    return before ? before->block : -1;
}

}  // namespace flashstep::viz
