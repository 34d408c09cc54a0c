// Runs one block: fibres in a shuffled order, barriers, warp collectives, deadlock.
#include "gpu/simt/block.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "gpu/simt/tensor.h"

namespace flashstep::gpu::simt {

constinit thread_local Lane* current_lane = nullptr;

namespace {

// Thrown in a waiting lane to unwind its stack after another lane has failed. Never leaves its fibre.
struct Abort {};

std::string describe(Warp::Collective what, int operand) {
    switch (what) {
        case Warp::Collective::Barrier:
            return "sync_warp";
        case Warp::Collective::ShuffleXor:
            return fmt::format("shuffle_xor ({})", operand);
        case Warp::Collective::Mma:
            return mma_name(operand);
        case Warp::Collective::LdMatrix:
            return ldmatrix_name(operand);
        case Warp::Collective::None:
            break;
    }
    return "nothing";
}

}  // namespace

std::string at(CallSite where) {
    const std::string_view path = where.file;
    const std::size_t slash = path.rfind('/');
    return fmt::format("{}:{}", slash == std::string_view::npos ? path : path.substr(slash + 1), where.line);
}

void Block::fail(const Lane& lane, const std::string& what) const {
    throw Error(fmt::format("{}, block ({}, {}, {}), thread ({}, {}, {}): {}", kernel, index.x, index.y, index.z,
                            lane.thread.x, lane.thread.y, lane.thread.z, what));
}

std::uint32_t Block::next_random() {  // splitmix64: the same on every machine
    std::uint64_t z = random += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<std::uint32_t>((z ^ (z >> 31)) >> 32);
}

void Block::shuffle_ready() {
    const std::span<Lane*> lanes_ready = ready.since_clear();
    for (std::size_t k = lanes_ready.size(); k > 1; --k) std::swap(lanes_ready[k - 1], lanes_ready[next_random() % k]);
}

void Block::unwind_lane() { throw Abort{}; }

void Block::fail_target(const Lane& lane, const char* word, int at_least) const {
    fail(lane, fmt::format("{} needs sm_{} or later, and this run is for sm_{}", word, at_least, target));
}

void Block::refine_cells(std::int64_t element_bytes) {
    const int bits = std::countr_zero(static_cast<std::uint64_t>(element_bytes));
    if (bits >= granule_bits) return;
    const int halvings = granule_bits - bits;
    std::vector<SharedCell> finer(shared_cells.size() << halvings);
    for (std::size_t k = 0; k < finer.size(); ++k) finer[k] = shared_cells[k >> halvings];
    shared_cells = std::move(finer);
    granule_bits = bits;
}

void Block::wait_async(Lane& lane, int pending, CallSite where) {
    if (leaves_out(where)) return;
    lane.copies.wait(lane, pending);
}

void Block::check_no_copies(const Lane& lane) const {
    if (lane.copies.empty()) return;
    const AsyncCopy& copy = lane.copies.oldest();
    fail(lane, fmt::format("ends with {} asynchronous copies that it did not wait for, the first into shared {}[{}] "
                           "issued at {}",
                           lane.copies.pending(), copy.view, copy.index, at(copy.where)));
}

void Block::sync_block(Lane& lane, CallSite where) {
    if (leaves_out(where)) return;
    if (arrived == 0) {
        barrier_where = where;
    } else if (checks == Checks::On && !same_place(where, barrier_where)) {
        fail(lane, fmt::format("divergent barrier: waits at {} while others of its block wait at {}", at(where),
                               at(barrier_where)));
    }
    lane.where = where;
    lane.copies.scheduling_point();
    if (++arrived == static_cast<int>(lanes.size())) {
        release_block_barrier(lane);
        return;
    }
    lane.state = Lane::State::AtBlockBarrier;
    suspend(lane);
}

void Block::release_block_barrier(const Lane& last) {
    if (cancel && cancel->load(std::memory_order_relaxed)) throw Error("cancelled");
    arrived = 0;
    last_barrier = ++clock;
    ++counters->barriers;
    for (Warp& warp : warps) {
        warp.last_barrier = clock;
        if (checks == Checks::On) warp.log.flush(*counters);
    }
    ready.clear();  // everyone was here, so nobody was ready
    for (Lane& lane : lanes) {
        if (&lane == &last) continue;
        lane.state = Lane::State::Ready;
        ready.push(lane);
    }
    shuffle_ready();
}

void Block::fail_divergent(const Lane& lane, Warp::Collective what, int operand, CallSite where) const {
    const Warp& warp = *lane.warp;
    fail(lane, fmt::format("divergent warp: at {} at {} while other lanes are at {} at {}", describe(what, operand),
                           at(where), describe(warp.pending, warp.operand), at(warp.where)));
}

void Block::complete_collective(Lane& last) {
    Warp& warp = *last.warp;
    warp.arrived = 0;
    const Warp::Collective what = std::exchange(warp.pending, Warp::Collective::None);
    if (checks == Checks::On) warp.log.flush(*counters);
    switch (what) {
        case Warp::Collective::Barrier:
            warp.last_barrier = ++clock;
            ++counters->warp_barriers;
            break;
        case Warp::Collective::ShuffleXor:
            exchange(warp, what);
            break;
        case Warp::Collective::Mma:
            perform_mma(*this, warp);
            break;
        case Warp::Collective::LdMatrix:
            perform_ldmatrix(*this, warp);
            break;
        case Warp::Collective::None:
            break;
    }
    for (int k = 0; k < warp.lanes; ++k) {
        Lane& lane = lanes[static_cast<std::size_t>(warp.first + k)];
        if (&lane == &last) continue;
        lane.state = Lane::State::Ready;
        ready.push(lane);
    }
}

// Exchanges values, orders no memory.
void Block::exchange(const Warp& warp, Warp::Collective what) {
    ++counters->shuffles;
    for (int k = 0; k < warp.lanes; ++k) {
        Lane& lane = lanes[static_cast<std::size_t>(warp.first + k)];
        int source = k ^ warp.operand;
        if (source < 0 || source >= kWarp) source = k;  // as CUDA: out of the warp gives one's own value
        if (source >= warp.lanes) {
            fail(lane, fmt::format("{} at {} reads lane {}, and this warp has {} lanes", describe(what, warp.operand),
                                   at(warp.where), source, warp.lanes));
        }
        lane.received = warp.values[source];
    }
}

void Block::run_lane(void* argument) {
    Lane& lane = *static_cast<Lane*>(argument);
    Block& block = *lane.block;
    current_lane = &lane;
    try {
        block.body(block.body_argument);
        block.check_no_copies(lane);
    } catch (const Abort&) {
    } catch (...) {
        if (!block.error) block.error = std::current_exception();
    }
    lane.state = Lane::State::Exited;
    ++block.exited;
}

void Block::start() {
    last_barrier = ++clock;
    arrived = 0;
    error = nullptr;
    aborting = false;
    for (Warp& warp : warps) {
        warp.last_barrier = clock;
        warp.pending = Warp::Collective::None;
        warp.arrived = 0;
        warp.log.clear();
    }
    for (Lane& lane : lanes) {
        lane.state = Lane::State::Ready;
        lane.copies.clear();
    }
}

void Block::run() {
    start();
    ready.clear();
    for (Lane& lane : lanes) ready.push(lane);
    shuffle_ready();
    Lane* const outer = std::exchange(current_lane, nullptr);
    exited = 0;
    while (exited < lanes.size() && !error) {
        if (ready.empty()) {
            try {
                report_deadlock();
            } catch (...) { error = std::current_exception(); }
            break;
        }
        ready.pop().fibre.enter();  // and from fibre to fibre, until one ends or all wait
    }
    if (error) unwind();
    current_lane = outer;
    if (error) std::rethrow_exception(error);
    if (checks == Checks::On) {
        for (Warp& warp : warps) warp.log.flush(*counters);
    }
}

void Block::unwind() {
    aborting = true;
    for (Lane& lane : lanes) {
        if (lane.fibre.suspended()) lane.fibre.enter();  // one that never ran has nothing to unwind
    }
    aborting = false;
}

void Block::report_deadlock() const {
    int waiting = 0, exited = 0;
    const Lane *at_barrier = nullptr, *at_collective = nullptr, *gone = nullptr;
    for (const Lane& lane : lanes) {
        switch (lane.state) {
            case Lane::State::AtBlockBarrier:
                at_barrier = &lane;
                ++waiting;
                break;
            case Lane::State::AtWarpCollective:
                if (!at_collective) at_collective = &lane;
                break;
            case Lane::State::Exited:
                gone = &lane;
                ++exited;
                break;
            case Lane::State::Ready:
                break;
        }
    }
    if (at_collective) {
        const Warp& warp = *at_collective->warp;
        std::string others;
        for (int k = 0; k < warp.lanes; ++k) {
            const Lane& lane = lanes[static_cast<std::size_t>(warp.first + k)];
            if (lane.state == Lane::State::Exited) {
                others = fmt::format("lane {} has ended", k);
            } else if (lane.state == Lane::State::AtBlockBarrier) {
                others = fmt::format("lane {} waits at the block barrier at {}", k, at(lane.where));
            }
        }
        fail(*at_collective, fmt::format("deadlock: {} of {} lanes of its warp are at {} at {}, {}", warp.arrived,
                                         warp.lanes, describe(warp.pending, warp.operand), at(warp.where), others));
    }
    fail(*at_barrier,
         fmt::format("deadlock: {} of {} threads wait at the block barrier at {}, {} have ended (thread {} "
                     "among them)",
                     waiting, lanes.size(), at(at_barrier->where), exited, gone ? gone->id : -1));
}

}  // namespace flashstep::gpu::simt
