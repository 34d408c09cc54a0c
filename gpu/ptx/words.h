// Handlers of the instructions that are more than arithmetic of one lane: memory, exchange in a warp, tensor cores.
#pragma once

#include "gpu/ptx/code.h"

namespace flashstep::gpu::ptx {

// memory.cpp; Instr::list is the row in Code::memory
void load(Warp& w, const Instr& i);
void store(Warp& w, const Instr& i);
void atomic(Warp& w, const Instr& i);
void copy_async(Warp& w, const Instr& i);
void commit_async(Warp& w, const Instr& i);
void wait_async(Warp& w, const Instr& i);  // all but the n newest groups
void add_window(Warp& w, const Instr& i);  // a + (n << 32): an address of a space as a generic one

// exchange.cpp
void pack_halves(Warp& w, const Instr& i);    // d = {a, b}
void unpack_halves(Warp& w, const Instr& i);  // {d, b} = a
void pack_words(Warp& w, const Instr& i);
void unpack_words(Warp& w, const Instr& i);
enum Shuffle { kUp, kDown, kButterfly, kIndex };
void shuffle(Warp& w, const Instr& i);  // n: a Shuffle; target: 1 + slot of the predicate, 0: none
enum Vote { kAny, kEvery, kBallot };
void vote(Warp& w, const Instr& i);
void active_mask(Warp& w, const Instr& i);
void sync_warp(Warp& w, const Instr& i);
void nothing(Warp& w, const Instr& i);

// tensor.cpp; Instr::list is the row in Code::tensor
void multiply_matrices(Warp& w, const Instr& i);
void load_matrices(Warp& w, const Instr& i);

// Generic addresses: windows over the spaces that are not global.
constexpr std::uint64_t kParamWindow = std::uint64_t{1} << 33, kSharedWindow = std::uint64_t{2} << 33,
                        kLocalWindow = std::uint64_t{3} << 33, kWindowBytes = std::uint64_t{1} << 33;

}  // namespace flashstep::gpu::ptx
