// How the rows or the keys of a tile fall to the warps of a thread block (FlashAttention-2, section 3.3).
#pragma once

#include <algorithm>

namespace flashstep {

constexpr int kWarps = 4;

// What warp w takes of a tile cut for blocks of `block`: equal runs of ceil(block / kWarps), the last ones shorter or
// empty where the tile is smaller.
struct Share {
    int first, count;
};
inline Share share(int w, int block, int total) {
    const int run = (block + kWarps - 1) / kWarps, first = std::min(w * run, total);
    return {first, std::min(run, total - first)};
}
// How many warps have something to do.
inline int warps_at_work(int block, int total) {
    const int run = (block + kWarps - 1) / kWarps;
    return (total + run - 1) / run;
}

}  // namespace flashstep
