// Look-ups in a trace.
#include "core/trace.h"

#include <algorithm>

namespace flashstep {

int Trace::find(std::string_view name, Space space) const {
    for (std::size_t t = 0; t < tensors.size(); ++t)
        if (tensors[t].space == space && tensors[t].name == name) return static_cast<int>(t);
    return -1;
}

int Trace::version_at(int tensor, int step, int copy, int block) const {
    const auto& lists = history[tensor];
    const auto latest = [&](std::size_t slot) {
        if (slot >= lists.size()) return -1;
        const auto& list = lists[slot];
        const auto after = std::upper_bound(list.begin(), list.end(), step,
                                            [&](int s, int version) { return s < versions[version].step; });
        return after == list.begin() ? -1 : *(after - 1);
    };
    if (tensors[tensor].space == Space::Sram) return latest(0);
    const std::size_t base = static_cast<std::size_t>(copy) * (tensors[tensor].blocks() + 1);
    const int whole = latest(base);  // a write of all blocks at once
    const int part = block < 0 ? -1 : latest(base + block + 1);
    return part < 0 || (whole >= 0 && versions[whole].step > versions[part].step) ? whole : part;
}

int Trace::tile_at(int tensor, int step) const {
    const auto& alive = lifetimes[tensor];
    const auto after =
        std::upper_bound(alive.begin(), alive.end(), step, [](int s, const Lifetime& life) { return s < life.first; });
    if (after == alive.begin() || (after - 1)->last < step) return -1;
    return version_at(tensor, step);
}

std::vector<int> Trace::resident(int step) const {
    std::vector<int> tiles;
    for (std::size_t t = 0; t < tensors.size(); ++t)
        if (tensors[t].space == Space::Sram && tile_at(static_cast<int>(t), step) >= 0)
            tiles.push_back(static_cast<int>(t));
    return tiles;
}

Trace::Range Trace::block_range(int tensor, int block) const {
    const Tensor& t = tensors[tensor];
    if (block < 0) return {0, t.rows, 0, t.cols};
    const int row0 = block / t.col_blocks() * t.block_rows, col0 = block % t.col_blocks() * t.block_cols;
    return {row0, std::min(t.block_rows, t.rows - row0), col0, std::min(t.block_cols, t.cols - col0)};
}

Trace::View Trace::matrix_at(int tensor, int step, int head) const {
    const Tensor& t = tensors[tensor];
    View view{Matrix::Constant(t.rows, t.cols, std::nan("")), {}};
    view.written.setConstant(t.rows, t.cols, false);
    const int copy = copy_of(tensor, head);
    for (int block = 0; block < t.blocks(); ++block) {
        const int found = version_at(tensor, step, copy, block);
        if (found < 0) continue;
        const Version& version = versions[found];
        const Range to = block_range(tensor, block);
        const int row0 = version.block < 0 ? to.row0 : 0, col0 = version.block < 0 ? to.col0 : 0;
        view.values.block(to.row0, to.col0, to.rows, to.cols) = value(version).block(row0, col0, to.rows, to.cols);
        view.written.block(to.row0, to.col0, to.rows, to.cols).setConstant(true);
    }
    return view;
}

HbmBytes Trace::hbm_bytes(int tensor, int step) const {
    const auto& list = byte_history[tensor];
    const auto after =
        std::upper_bound(list.begin(), list.end(), step, [](int s, const auto& entry) { return s < entry.first; });
    return after == list.begin() ? HbmBytes{} : (after - 1)->second;
}

int Trace::copy_of(int tensor, int head) const {
    const PerHead per = tensors[tensor].per;
    return per == PerHead::Shared ? 0 : per == PerHead::KeyValue ? problem.kv_index(head) : head;
}

std::pair<int, int> Trace::head_range(int head) const {
    const auto by_head = [](const Step& step, int h) { return step.head < h; };
    const auto first = std::lower_bound(steps.begin() + 1, steps.end(), head, by_head);
    const auto end = std::lower_bound(first, steps.end(), head + 1, by_head);
    if (first == end) return {0, 0};
    return {static_cast<int>(first - steps.begin()), static_cast<int>(end - steps.begin()) - 1};
}

}  // namespace flashstep
