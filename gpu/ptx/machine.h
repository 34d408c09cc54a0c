// Runs PTX as a front end of the executor: its blocks, warps and lanes, its memory and its checks are the executor's.
//
// A warp's lanes run together where they agree, 32 to an instruction. Where they part, the lanes at the lowest
// instruction go first, and lanes that come to the same place go on as one. Lanes that arrive early at a barrier of the
// block, or at an instruction for all lanes of a warp, wait there for those that live. Lanes that have ended are not
// waited for. The seed chooses the order of warps, of the lanes of an atomic, and when asynchronous copies arrive.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/instruction_counts.h"
#include "gpu/ptx/code.h"
#include "gpu/ptx/warp.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu::ptx {

// An array in global memory, as addresses find it.
struct Span {
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    simt::Tensor* tensor = nullptr;
};

class Machine final : public simt::Front {
  public:
    explicit Machine(const Module& module) : module_(module) {}

    std::int64_t begin(const simt::Call& call, std::list<simt::Tensor>& tensors) override;
    void run(simt::Block& block) override;
    // The entry, by its name, for launches that follow; else the one that a launch's name and parameters say.
    void choose(const Entry& entry) { chosen_ = &entry; }

    InstructionCounts counts() const;  // of all launches so far

    // ---- for the handlers
    simt::Lane& lane(const Warp& w, int lane) {
        return block_->lanes[static_cast<std::size_t>(w.number * kLanes + lane)];
    }
    [[noreturn]] void fail(const Warp& w, int in_warp, const std::string& what) {
        block_->fail(lane(w, in_warp), what);
    }
    simt::Block& block() { return *block_; }
    const Code& code() const { return *code_; }
    bool checked() const { return checked_; }
    const std::vector<Span>& spans() const { return spans_; }
    const std::vector<std::byte>& parameters() const { return parameters_; }
    std::byte* local_of(const Warp& w, int lane) {
        return local_.data() + (w.number * kLanes + lane) * code_->local_bytes;
    }
    const Place& place_of(const Instr& i) const;

  private:
    struct Tally {  // of a block of instructions, or of a guarded one
        std::int64_t warps = 0, lanes = 0;
    };
    struct Prepared {
        Code code;
        std::vector<Tally> blocks;
        std::vector<Tally> guarded;  // by instr; empty: none
    };
    Prepared& prepare(const Entry& entry);
    const Entry& entry_of(const simt::Call& call) const;
    void set_constants(Warp& w);
    void set_indices(Warp& w);
    void run_warp(Warp& w);
    void run_lanes(Warp& w);
    bool next_group(Warp& w);
    void meet_others(Warp& w);
    void split(Warp& w, std::uint32_t taken, std::uint32_t target);
    void end_lanes(Warp& w, std::uint32_t lanes);
    void wait(Warp& w, std::uint32_t lanes);
    std::uint32_t members(const Warp& w, const Instr& i, std::uint32_t lanes) const;
    std::uint32_t guarded(const Warp& w, const Instr& i) const;
    void release_barrier();
    [[noreturn]] void fail_divergent(Warp& w);
    std::string describe_instr(std::uint32_t pc) const;

    const Module& module_;
    const Entry* chosen_ = nullptr;
    std::map<const Entry*, std::unique_ptr<Prepared>> prepared_;
    Prepared* now_ = nullptr;
    const Code* code_ = nullptr;
    simt::Block* block_ = nullptr;
    bool checked_ = true, constants_set_ = false;
    std::vector<Span> spans_;
    std::vector<std::byte> parameters_, local_;
    std::vector<Warp> warps_;
    std::vector<std::byte> registers_;
    std::uint32_t until_cancel_ = 0;
};

}  // namespace flashstep::gpu::ptx
