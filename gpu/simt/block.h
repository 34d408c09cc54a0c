// The block that is running: its lanes (CUDA threads), its warps, and their barriers and exchanges.
#pragma once

#include <atomic>
#include <bit>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "gpu/checks.h"
#include "gpu/launch.h"
#include "gpu/simt/async.h"
#include "gpu/simt/call_site.h"
#include "gpu/simt/fibre.h"
#include "gpu/simt/memory.h"

namespace flashstep::gpu::simt {

constexpr int kWarp = 32;

struct Warp {
    int first = 0, lanes = 0;        // its lanes are [first, first + lanes) of the block
    std::uint32_t last_barrier = 0;  // stamp of the last barrier, of block or warp scope, that the warp passed
    SharedLog log;
    // The collective that lanes have arrived at: what it is, its operand (mask of a shuffle, variant of a
    // tensor-core word), where, and the values they brought (tensor-core words: the address of their registers).
    enum class Collective { None, Barrier, ShuffleXor, Mma, LdMatrix };
    Collective pending = Collective::None;
    int operand = 0, arrived = 0;
    CallSite where;
    std::uint64_t values[kWarp] = {};
};

// One CUDA thread and the fibre that runs it.
struct Lane {
    enum class State { Ready, AtBlockBarrier, AtWarpCollective, Exited };
    int id = 0;     // in the block
    Index3 thread;  // the same, as x, y, z
    Warp* warp = nullptr;
    Block* block = nullptr;
    State state = State::Ready;
    CallSite where;              // of what it waits at
    std::uint64_t received = 0;  // from a shuffle
    AsyncCopies copies;
    Fibre fibre;
};

// Lanes that can go on, first come, first served.
class ReadyLanes {
  public:
    void resize(std::size_t lanes) { ring_.assign(std::bit_ceil(lanes), nullptr); }
    void clear() { first_ = end_ = 0; }
    bool empty() const { return first_ == end_; }
    void push(Lane& lane) { ring_[end_++ & (ring_.size() - 1)] = &lane; }
    Lane& pop() { return *ring_[first_++ & (ring_.size() - 1)]; }
    std::span<Lane*> since_clear() { return {ring_.data(), end_}; }  // if none was popped

  private:
    std::vector<Lane*> ring_;  // as many as there are lanes, to a power of two
    std::size_t first_ = 0, end_ = 0;
};

// Executor, block and lanes of one OS thread at work; the words of gpu/device.h ask it who is calling.
struct Block {
    std::string_view kernel;  // for messages
    Index3 index, block_dim, grid_dim;
    std::uint32_t serial = 0;        // counts blocks over all launches of a run, from 1
    std::uint32_t launch_start = 0;  // serial of the first block of this launch
    Checks checks = Checks::On;
    int target = 90;  // architecture that the kernel runs for
    Counters* counters = nullptr;

    std::uint32_t clock = 0;         // ticks at every barrier, also between blocks
    std::uint32_t last_barrier = 0;  // stamp of the last block-wide barrier

    std::vector<Lane> lanes;
    std::vector<Warp> warps;
    ReadyLanes ready;
    Home home;
    int arrived = 0;         // lanes at the block barrier
    std::size_t exited = 0;  // lanes that have ended
    CallSite barrier_where;
    std::uint64_t random = 1;

    std::byte* shared = nullptr;  // dynamic shared memory, aligned to 16 bytes
    std::int64_t shared_bytes = 0;
    std::vector<SharedCell> shared_cells;  // one per granule
    int granule_bits = 2;                  // a granule has 2^granule_bits bytes
    CallSite without_barrier;              // source line whose barriers and waits do nothing; line 0: none
    bool leaves_out(const CallSite& where) {
        if (without_barrier.line == 0 || without_barrier.line != where.line ||
            !std::string_view(where.file).ends_with(without_barrier.file))
            return false;
        ++counters->left_out;
        return true;
    }

    void (*body)(void*) = nullptr;  // runs the kernel once, for the current lane
    void* body_argument = nullptr;
    const std::atomic<bool>* cancel = nullptr;  // looked at when a barrier opens
    std::exception_ptr error;                   // the first one
    bool aborting = false;                      // lanes that wait are resumed only to unwind

    // What the words do. Each throws Error, with the kernel, block, thread and reason.
    void sync_block(Lane& lane, CallSite where);
    void sync_warp(Lane& lane, CallSite where);
    std::uint64_t collective(Lane& lane, Warp::Collective what, int operand, std::uint64_t value, CallSite where);
    void wait_async(Lane& lane, int pending, CallSite where);
    [[noreturn]] void fail(const Lane& lane, const std::string& what) const;
    // Throws Error if the target of the run has not got what `word` needs.
    void require_target(const Lane& lane, const char* word, int at_least) const {
        if (target < at_least) [[unlikely]]
            fail_target(lane, word, at_least);
    }
    // Makes the granules small enough for a view whose elements have that many bytes.
    void refine_cells(std::int64_t element_bytes);

    void run();                                    // all lanes, to their end; throws the first error
    void start();                                  // before a block's lanes run, whatever runs them
    void check_no_copies(const Lane& lane) const;  // that a lane which ends has waited for all of its copies
    static void run_lane(void* lane);              // what a lane's fibre runs
    std::uint32_t next_random();

  private:
    void suspend(Lane& lane);
    void release_block_barrier(const Lane& last);
    void complete_collective(Lane& last);
    [[noreturn]] void fail_divergent(const Lane& lane, Warp::Collective what, int operand, CallSite where) const;
    [[noreturn]] static void unwind_lane();  // leaves the kernel after another lane has failed
    void exchange(const Warp& warp, Warp::Collective what);
    [[noreturn]] void fail_target(const Lane& lane, const char* word, int at_least) const;
    void shuffle_ready();
    [[noreturn]] void report_deadlock() const;
    void unwind();
};

// The lane that this OS thread is running; null outside a kernel. It is the executor's equivalent of threadIdx, which
// CUDA keeps in registers.
extern constinit thread_local Lane* current_lane;

// What follows is in line up to the switch, because a switch spoils the processor's prediction of returns.

[[gnu::always_inline]] inline void Block::suspend(Lane& lane) {
    if (ready.empty()) {
        lane.fibre.leave();  // a deadlock, which is seen at home
    } else {
        lane.fibre.leave_to(ready.pop().fibre);
    }
    if (aborting) [[unlikely]]
        unwind_lane();
    current_lane = &lane;
}

[[gnu::always_inline]] inline std::uint64_t Block::collective(Lane& lane, Warp::Collective what, int operand,
                                                              std::uint64_t value, CallSite where) {
    Warp& warp = *lane.warp;
    if (warp.arrived == 0) {
        warp.pending = what;
        warp.operand = operand;
        warp.where = where;
    } else if (warp.pending != what || warp.operand != operand ||
               (checks == Checks::On && !same_place(where, warp.where))) [[unlikely]] {
        fail_divergent(lane, what, operand, where);
    }
    warp.values[lane.id - warp.first] = value;
    lane.copies.scheduling_point();
    if (++warp.arrived == warp.lanes) {
        complete_collective(lane);
    } else {
        lane.state = Lane::State::AtWarpCollective;
        suspend(lane);
    }
    return lane.received;
}

[[gnu::always_inline]] inline void Block::sync_warp(Lane& lane, CallSite where) {
    if (leaves_out(where)) return;
    collective(lane, Warp::Collective::Barrier, 0, 0, where);
}

}  // namespace flashstep::gpu::simt
