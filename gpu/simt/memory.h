// What the executor knows about memory: tensors in global memory, shadow cells with the last accesses, counters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/tensor_role.h"

namespace flashstep::gpu::simt {

struct Lane;
struct Block;

enum class Access : std::uint8_t { Read, Write, Atomic };

// The threads that last accessed a place in one way, as far as ordering needs it. Stamps come from a clock that ticks
// at every barrier: an access is stamped with its warp's last barrier (block or warp scope). A later access is ordered
// after this one iff a barrier that both took part in lies between, which stamps tell:
//   same thread: always.  same warp: stamp < the warp's last barrier.  other warp: stamp < the block's last barrier.
struct AccessSet {
    enum class Spread : std::uint8_t { OneThread, OneWarp, ManyWarps };
    std::uint32_t stamp = 0;  // 0: never accessed
    std::uint16_t thread = 0;
    Spread spread = Spread::OneThread;

    bool ordered_before(const Lane& lane) const;
    bool ordered_before_warp(const Lane& lane) const;  // before all lanes of its warp
    void add(const Lane& lane);
};

// Shadow of one granule of memory.
struct Cell {
    AccessSet write, read, atomic;

    // Records the access, or returns the set that it races with.
    const AccessSet* record(Access access, const Lane& lane);
    // The same for a read by a whole warp at once: it has to be ordered after a write by any of its lanes.
    const AccessSet* record_warp_read(const Lane& lane);
};

struct SharedCell : Cell {
    std::uint32_t initialised_in = 0;  // serial number of the block that wrote here; 0: none
    std::uint16_t in_flight = 0;       // 1 + the thread whose asynchronous copy may still be writing here; 0: none
};

// Global memory outlives a block: the blocks that accessed a place, for races between the blocks of one launch.
struct GlobalCell : Cell {
    static constexpr std::uint32_t kMany = 0xffffffffu;
    std::uint32_t writer = 0, reader = 0, adder = 0;  // serial numbers; 0: none, kMany: several
    bool initialised = false;
};

// One array in global memory.
struct Tensor {
    std::string name;
    TensorRole role = TensorRole::Input;
    std::int64_t count = 0, element_bytes = 4;
    std::vector<std::byte> bytes;
    std::vector<GlobalCell> cells;  // with checks, and not for inputs
    std::int64_t read_bytes = 0, write_bytes = 0;
    std::uint64_t address = 0;  // where code that knows addresses only finds it: a multiple of 2^kTensorBits
    static constexpr int kTensorBits = 40;
};

// Work of all launches of a run.
struct Counters {
    std::int64_t barriers = 0;       // block-wide, one per block
    std::int64_t warp_barriers = 0;  // one per warp
    std::int64_t shuffles = 0;       // one per warp
    std::int64_t atomics = 0;        // one per thread
    std::int64_t exponentials = 0;   // one per element
    std::int64_t mma = 0;            // matrix instructions, one per warp
    std::int64_t ldmatrix = 0;       // one per warp, of one, two or four matrices
    std::int64_t async_copies = 0;   // cp.async, one per thread
    std::int64_t async_bytes = 0;    // that they read from global memory
    std::int64_t left_out = 0;       // barriers and waits that were asked to do nothing, one per thread
    // Only with checks on.
    std::int64_t shared_read_bytes = 0, shared_write_bytes = 0;
    std::int64_t wavefronts = 0, ideal_wavefronts = 0;
    std::int64_t accesses_not_grouped = 0;  // left out of the wavefronts: over the log's limit
};

// Shared accesses of one warp between two of its barriers, by lane. Fibres do not run in lockstep, so the warp's
// instructions are rebuilt from them: the k-th access of every lane is taken as one instruction (read and write apart).
// That is exact where the lanes of a warp take the same path, and a fair guess where they do not.
class SharedLog {
  public:
    void note(int lane, std::uint32_t offset, int bytes, bool write) {
        auto& log = lanes_[lane];
        if (log.size() < kLimit) {
            log.push_back(offset << 8 | static_cast<std::uint32_t>(bytes) << 1 | static_cast<std::uint32_t>(write));
            empty_ = false;
        } else {
            ++dropped_;
        }
    }
    void flush(Counters& counters) {  // counts and empties the log
        if (!empty_) count(counters);
    }
    void clear();

  private:
    void count(Counters& counters);
    static constexpr std::size_t kLimit = 1u << 17;
    std::vector<std::uint32_t> lanes_[32];
    std::int64_t dropped_ = 0;
    bool empty_ = true;
};

// Wavefronts of one access by a warp: in each of its phases, the largest number of different 4-byte words that fall
// into one of the 32 banks. A phase is what the banks can serve at once: all lanes at up to 4 bytes each, 16 lanes at 8
// bytes, 8 lanes at 16 bytes. Ideal: the words that a phase asks for, 32 at a time. `places` holds byte offsets.
struct Wavefronts {
    int actual, ideal;
};
Wavefronts wavefronts(const std::uint32_t* places, int lanes, int bytes_per_lane);

}  // namespace flashstep::gpu::simt
