// Runs blocks of PTX: warps in turn, lanes together where they agree.
#include "gpu/ptx/machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "core/error.h"
#include "gpu/simt/checked.h"

namespace flashstep::gpu::ptx {

namespace {

std::uint32_t word_at(const Warp& w, Slot32 slot) {
    std::uint32_t word;
    std::memcpy(&word, w.registers + slot, 4);
    return word;
}

void set_lanes(Warp& w, Slot32 slot, std::uint32_t (*value)(int lane)) {
    for (int lane = 0; lane < kLanes; ++lane) {
        const std::uint32_t word = value(lane);
        std::memcpy(w.registers + slot + 4 * lane, &word, 4);
    }
}

// "float const*, flashstep::gpu::NoProbe" of "void (*)(float const*, ...)" or of "name<...>(float const*, ...)".
std::string_view parameters_in(std::string_view signature) {
    int depth = 0;
    for (std::size_t k = signature.size(); k-- > 0;) {
        if (signature[k] == ')') ++depth;
        if (signature[k] == '(' && --depth == 0) return signature.substr(k);
    }
    return {};
}

// "fa2_forward_4_swizzle<NoProbe, Half, 64>": no result, no parameters; namespaces of the function itself go.
std::string_view function_in(std::string_view signature) {
    signature = signature.substr(0, signature.size() - parameters_in(signature).size());
    const std::size_t arguments = std::min(signature.find('<'), signature.size());
    std::size_t start = signature.rfind("::", arguments);
    if (start != std::string_view::npos) return signature.substr(start + 2);
    start = signature.rfind(' ', arguments);
    return start == std::string_view::npos ? signature : signature.substr(start + 1);
}

// "@%p1 bra $L__BB0_2;" as the text has it, on one line.
std::string text_of(std::string_view module, const Instruction& instruction) {
    const auto opcode = static_cast<std::size_t>(instruction.opcode.data() - module.data());
    const std::size_t before = module.find_last_of(";{}:\n", opcode), end = module.find(';', opcode);
    std::string text;
    for (const char c : module.substr(before + 1, end - before)) {
        const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
        if (!blank) text += c;
        if (blank && !text.empty() && text.back() != ' ') text += ' ';
    }
    return text;
}

}  // namespace

// ---- launches

const Entry& Machine::entry_of(const simt::Call& call) const {
    if (chosen_) return *chosen_;
    const std::string signature = demangled(call.type->name());
    std::vector<const Entry*> found;
    for (const Entry& entry : module_.entries) {
        const std::string_view function = function_in(entry.demangled);
        if (function.substr(0, function.find('<')) != call.launch->name) continue;
        if (parameters_in(entry.demangled) != parameters_in(signature)) continue;
        if (call.launch->columns != 0 && !function.ends_with(fmt::format(", {}>", call.launch->columns))) continue;
        found.push_back(&entry);
    }
    if (found.size() == 1) return *found.front();
    throw Error(fmt::format("{} has {} entries for {}{}", module_.name, found.empty() ? "no" : "several",
                            call.launch->name, parameters_in(signature)));
}

Machine::Prepared& Machine::prepare(const Entry& entry) {
    std::unique_ptr<Prepared>& prepared = prepared_[&entry];
    if (!prepared) {
        prepared = std::make_unique<Prepared>();
        prepared->code = decode(module_, entry);
        prepared->blocks.resize(prepared->code.blocks);
        prepared->guarded.resize(prepared->code.instrs.size());
    }
    return *prepared;
}

std::int64_t Machine::begin(const simt::Call& call, std::list<simt::Tensor>& tensors) {
    const Entry& entry = entry_of(call);
    now_ = &prepare(entry);
    code_ = &now_->code;
    if (call.parameters.size() != entry.parameters.size()) {
        throw Error(fmt::format("{} takes {} parameters, and the launch has {}", entry.demangled,
                                entry.parameters.size(), call.parameters.size()));
    }
    parameters_.assign(static_cast<std::size_t>(entry.parameter_bytes), std::byte{0});
    for (std::size_t k = 0; k < entry.parameters.size(); ++k) {
        const Parameter& parameter = entry.parameters[k];
        const std::vector<std::byte>& bytes = call.parameters[k];
        if (bytes.size() != static_cast<std::size_t>(parameter.bytes)) {
            throw Error(fmt::format("parameter {} of {} has {} bytes, and the launch gives {}", k + 1, entry.demangled,
                                    parameter.bytes, bytes.size()));
        }
        std::memcpy(parameters_.data() + parameter.offset, bytes.data(), bytes.size());
    }
    spans_.assign(1, Span{});  // addresses that start with 0 are of other spaces
    for (simt::Tensor& tensor : tensors)
        spans_.push_back({tensor.bytes.data(), static_cast<std::int64_t>(tensor.bytes.size()), &tensor});
    constants_set_ = false;
    return code_->static_shared_bytes + call.launch->shared_bytes;
}

void Machine::run(simt::Block& block) {
    block_ = &block;
    checked_ = block.checks == Checks::On;
    block.start();
    const std::size_t count = block.warps.size();
    if (!constants_set_) {
        if (checked_) block.refine_cells(code_->granule);
        registers_.assign(count * code_->register_bytes + 64, std::byte{0});
        local_.assign(block.lanes.size() * static_cast<std::size_t>(code_->local_bytes), std::byte{0xff});
        warps_.assign(count, Warp{});
        const auto misaligned = reinterpret_cast<std::uintptr_t>(registers_.data()) % 64;
        std::byte* const first = registers_.data() + (64 - misaligned) % 64;
        for (std::size_t k = 0; k < count; ++k) {
            warps_[k].registers = first + k * code_->register_bytes;
            warps_[k].machine = this;
            warps_[k].number = static_cast<int>(k);
            set_constants(warps_[k]);
        }
        constants_set_ = true;
    }
    for (Warp& w : warps_) {
        const int lanes = block.warps[static_cast<std::size_t>(w.number)].lanes;
        w.live = lanes == kLanes ? kAllLanes : (1u << lanes) - 1;
        w.active = w.live;
        w.pc = 0;
        w.at_barrier = false;
        w.others.clear(), w.waiting.clear();
        set_indices(w);
    }
    std::vector<Warp*> order;
    for (;;) {
        order.clear();
        for (Warp& w : warps_)
            if (w.live != 0) order.push_back(&w);
        if (order.empty()) return;
        for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[block.next_random() % k]);
        for (Warp* w : order) run_warp(*w);
        release_barrier();
    }
}

void Machine::set_constants(Warp& w) {
    for (const Constant& constant : code_->constants) {
        std::byte* const at = w.registers + constant.slot;
        const auto word = static_cast<std::uint32_t>(constant.bits);
        if (constant.width == Width::Pred) {
            const std::uint32_t mask = word != 0 ? kAllLanes : 0;
            std::memcpy(at, &mask, 4);
        } else if (constant.width == Width::B64) {
            for (int lane = 0; lane < kLanes; ++lane) std::memcpy(at + 8 * lane, &constant.bits, 8);
        } else {
            for (int lane = 0; lane < kLanes; ++lane) std::memcpy(at + 4 * lane, &word, 4);
        }
    }
}

void Machine::set_indices(Warp& w) {
    const auto same = [&](Special which, int value) {
        const Slot32 slot = code_->special[static_cast<int>(which)];
        if (slot == 0) return;
        for (int lane = 0; lane < kLanes; ++lane) std::memcpy(w.registers + slot + 4 * lane, &value, 4);
    };
    const auto of_thread = [&](Special which, int Index3::*part) {
        const Slot32 slot = code_->special[static_cast<int>(which)];
        if (slot == 0) return;
        for (int in_warp = 0; in_warp < kLanes && (w.live >> in_warp & 1) != 0; ++in_warp)
            std::memcpy(w.registers + slot + 4 * in_warp, &(lane(w, in_warp).thread.*part), 4);
    };
    const auto of_lane = [&](Special which, std::uint32_t (*value)(int lane)) {
        if (const Slot32 slot = code_->special[static_cast<int>(which)]; slot != 0) set_lanes(w, slot, value);
    };
    using enum Special;
    const Index3 size = block_->block_dim, grid = block_->grid_dim, index = block_->index;
    same(NtidX, size.x), same(NtidY, size.y), same(NtidZ, size.z);
    same(NctaidX, grid.x), same(NctaidY, grid.y), same(NctaidZ, grid.z);
    same(CtaidX, index.x), same(CtaidY, index.y), same(CtaidZ, index.z);
    same(Warpid, w.number), same(Nwarpid, static_cast<int>(warps_.size()));
    of_thread(TidX, &Index3::x), of_thread(TidY, &Index3::y), of_thread(TidZ, &Index3::z);
    of_lane(Laneid, [](int lane) { return static_cast<std::uint32_t>(lane); });
    of_lane(LanemaskEq, [](int lane) { return 1u << lane; });
    of_lane(LanemaskLt, [](int lane) { return (1u << lane) - 1; });
    of_lane(LanemaskLe, [](int lane) { return (2u << lane) - 1; });
    of_lane(LanemaskGt, [](int lane) { return ~((2u << lane) - 1); });
    of_lane(LanemaskGe, [](int lane) { return ~((1u << lane) - 1); });
}

// ---- a warp

const Place& Machine::place_of(const Instr& i) const {
    const int origin = code_->origin[static_cast<std::size_t>(&i - code_->instrs.data())];
    return module_
        .places[origin < 0 ? 0 : static_cast<std::size_t>(code_->origins[static_cast<std::size_t>(origin)].place)];
}

// "bar.sync at softmax_rows.h:33, called at fa2_forward_1_tile.cuh:88"; where there is no .loc, the line of the PTX.
std::string Machine::describe_instr(std::uint32_t pc) const {
    const int number = code_->origin[pc];
    if (number < 0) return "the end";
    const Origin& origin = code_->origins[static_cast<std::size_t>(number)];
    const std::string place = describe(module_.places[static_cast<std::size_t>(origin.place)]);
    const std::string line = fmt::format("{}:{}", module_.name, origin.line);
    return place.empty() ? fmt::format("{} at {}", origin.opcode, line)
                         : fmt::format("{} at {} ({})", origin.opcode, place, line);
}

void Machine::run_warp(Warp& w) {
    try {
        run_lanes(w);
    } catch (const Error& error) {
        throw Error(fmt::format("{}; {}", error.what(), describe_instr(w.pc)), error.hint());
    }
}

std::uint32_t Machine::guarded(const Warp& w, const Instr& i) const {
    if (!i.has_guard) return w.active;
    const std::uint32_t set = word_at(w, i.guard);
    return (i.guard_negated ? ~set : set) & w.active;
}

// Runs the warp until all of its lanes wait at a barrier of the block, or have ended.
void Machine::run_lanes(Warp& w) {
    const Instr* const code = code_->instrs.data();
    Tally* const blocks = now_->blocks.data();
    if (w.active == 0 && !next_group(w)) return;
    for (;;) {
        const Instr& i = code[w.pc];
        switch (i.kind) {
            case Instr::Kind::Plain:
                i.run(w, i);
                ++w.pc;
                break;
            case Instr::Kind::Block: {
                if (!w.others.empty()) [[unlikely]] {
                    const std::uint32_t here = w.pc;
                    meet_others(w);
                    if (w.pc != here) break;
                }
                Tally& tally = blocks[i.list];
                ++tally.warps;
                tally.lanes += std::popcount(w.active);
                ++w.pc;
                break;
            }
            case Instr::Kind::Guarded: {
                const std::uint32_t on = guarded(w, i);
                Tally& tally = now_->guarded[w.pc];
                if (on != 0) {
                    ++tally.warps;
                    tally.lanes += std::popcount(on);
                    const std::uint32_t all = std::exchange(w.active, on);
                    i.run(w, i);
                    w.active = all;
                }
                ++w.pc;
                break;
            }
            case Instr::Kind::Branch: {
                const std::uint32_t taken = guarded(w, i);
                if (taken == w.active) {
                    if (i.target <= w.pc && (++until_cancel_ & 0xfff) == 0 && block_->cancel &&
                        block_->cancel->load(std::memory_order_relaxed)) {
                        throw Error("cancelled");
                    }
                    w.pc = i.target;
                } else if (taken == 0) {
                    ++w.pc;
                } else {
                    split(w, taken, i.target);
                }
                break;
            }
            case Instr::Kind::Collective: {
                const std::uint32_t on = guarded(w, i);
                if (on == w.live && (i.fourth == 0 || word_at(w, i.fourth) == kAllLanes)) [[likely]] {
                    i.run(w, i);
                    ++w.pc;
                    break;
                }
                if (on == 0) {
                    ++w.pc;
                    break;
                }
                const std::uint32_t needed = members(w, i, on);
                if ((on & needed) == needed && on == w.active) {
                    i.run(w, i);
                    ++w.pc;
                    break;
                }
                wait(w, on);
                if (w.active == 0 && !next_group(w)) return;
                break;
            }
            case Instr::Kind::Barrier: {
                const std::uint32_t on = guarded(w, i);
                if (on == 0) {
                    ++w.pc;
                    break;
                }
                wait(w, on);
                if (w.active == 0 && !next_group(w)) return;
                break;
            }
            case Instr::Kind::Exit: {
                const std::uint32_t on = guarded(w, i);
                if (on != 0) end_lanes(w, on);
                ++w.pc;
                if (w.active == 0 && !next_group(w)) return;
                break;
            }
            case Instr::Kind::Trap: {
                const std::uint32_t on = guarded(w, i);
                if (on != 0) fail(w, std::countr_zero(on), "runs into a trap");
                ++w.pc;
                break;
            }
        }
    }
}

// The lanes that an instruction for a warp has to have: those that its mask names and that live.
std::uint32_t Machine::members(const Warp& w, const Instr& i, std::uint32_t lanes) const {
    if (i.fourth == 0) return w.live;
    return word_at(w, i.fourth + 4 * static_cast<std::uint32_t>(std::countr_zero(lanes))) & w.live;
}

// Lanes elsewhere: kept by where they are, the lowest last, and those at one place together.
void Machine::split(Warp& w, std::uint32_t taken, std::uint32_t target) {
    Group later{target, taken}, now{w.pc + 1, w.active & ~taken};
    if (later.pc < now.pc) std::swap(later, now);
    const auto at = std::find_if(w.others.begin(), w.others.end(), [&](const Group& g) { return g.pc <= later.pc; });
    if (at != w.others.end() && at->pc == later.pc)
        at->lanes |= later.lanes;
    else
        w.others.insert(at, later);
    w.pc = now.pc;
    w.active = now.lanes;
}

// At the start of a basic block: lanes that wait here come along, and lanes that are further back go first.
void Machine::meet_others(Warp& w) {
    const Group lowest = w.others.back();
    if (lowest.pc > w.pc) return;
    w.others.pop_back();
    if (lowest.pc == w.pc) {
        w.active |= lowest.lanes;
        return;
    }
    const auto at = std::find_if(w.others.begin(), w.others.end(), [&](const Group& g) { return g.pc <= w.pc; });
    if (at != w.others.end() && at->pc == w.pc)
        at->lanes |= w.active;
    else
        w.others.insert(at, {w.pc, w.active});
    w.pc = lowest.pc;
    w.active = lowest.lanes;
}

// Lanes of the active ones wait at the present instruction; the rest, whose guard says no, go on behind it.
void Machine::wait(Warp& w, std::uint32_t lanes) {
    const auto found = std::find_if(w.waiting.begin(), w.waiting.end(), [&](const Group& g) { return g.pc == w.pc; });
    if (found != w.waiting.end())
        found->lanes |= lanes;
    else
        w.waiting.push_back({w.pc, lanes});
    w.active &= ~lanes;
    ++w.pc;
}

void Machine::end_lanes(Warp& w, std::uint32_t lanes) {
    if (checked_) {
        for (std::uint32_t left = lanes; left != 0; left &= left - 1)
            block_->check_no_copies(lane(w, std::countr_zero(left)));
    }
    w.live &= ~lanes;
    w.active &= ~lanes;
}

// Whoever can go on. False: all lanes wait at barriers of the block, or have ended.
bool Machine::next_group(Warp& w) {
    if (!w.others.empty()) {
        w.pc = w.others.back().pc;
        w.active = w.others.back().lanes;
        w.others.pop_back();
        return true;
    }
    if (w.live == 0) return false;
    bool barriers_only = true;
    for (Group& group : w.waiting) {
        const Instr& i = code_->instrs[group.pc];
        if (i.kind == Instr::Kind::Barrier) continue;
        barriers_only = false;
        const std::uint32_t needed = members(w, i, group.lanes);
        if ((group.lanes & needed) != needed) continue;
        // It runs here, because whoever is active comes to it anew and would wait again.
        w.active = group.lanes;
        w.pc = group.pc;
        group = w.waiting.back();
        w.waiting.pop_back();
        i.run(w, i);
        ++w.pc;
        return true;
    }
    if (!barriers_only) fail_divergent(w);
    w.at_barrier = true;
    return false;
}

void Machine::fail_divergent(Warp& w) {
    const Group& first = w.waiting.front();
    w.pc = first.pc;
    if (w.waiting.size() == 1) {
        const std::uint32_t missing = members(w, code_->instrs[first.pc], first.lanes) & ~first.lanes;
        fail(w, std::countr_zero(first.lanes),
             fmt::format("deadlock: waits for lane {}, which is not there", std::countr_zero(missing)));
    }
    fail(w, std::countr_zero(first.lanes),
         fmt::format("divergent warp: {} of its lanes wait here while others wait at {}", std::popcount(first.lanes),
                     describe_instr(w.waiting.back().pc)));
}

// All warps wait at a barrier or have ended: those that wait go on.
void Machine::release_barrier() {
    if (block_->cancel && block_->cancel->load(std::memory_order_relaxed)) throw Error("cancelled");
    const Group* first = nullptr;
    bool any = false;
    for (Warp& w : warps_) {
        if (w.live == 0) continue;
        for (const Group& group : w.waiting) {
            any = true;
            if (!first) first = &group;
            const Instr &here = code_->instrs[group.pc], &there = code_->instrs[first->pc];
            const Place &a = place_of(here), &b = place_of(there);
            const bool same =
                group.pc == first->pc || (here.n == there.n && a.kernel_line != 0 && a.kernel_line == b.kernel_line &&
                                          a.kernel_file == b.kernel_file);
            if (checked_ && !same) {
                fail(w, std::countr_zero(group.lanes),
                     fmt::format("divergent barrier: waits at {} while others of its block wait at {}",
                                 describe_instr(group.pc), describe_instr(first->pc)));
            }
        }
    }
    if (!any) return;
    block_->last_barrier = ++block_->clock;
    ++block_->counters->barriers;
    for (simt::Warp& warp : block_->warps) warp.last_barrier = block_->clock;
    for (Warp& w : warps_) {
        if (w.live == 0) continue;
        for (std::uint32_t left = w.live; left != 0; left &= left - 1)
            lane(w, std::countr_zero(left)).copies.scheduling_point();
        w.at_barrier = false;
        std::sort(w.waiting.begin(), w.waiting.end(), [](const Group& a, const Group& b) { return a.pc > b.pc; });
        for (const Group& group : w.waiting) w.others.push_back({group.pc + 1, group.lanes});
        w.waiting.clear();
        w.active = 0;
    }
}

// ---- counts

InstructionCounts Machine::counts() const {
    std::map<std::string, Executed> opcodes, innermost;
    std::map<std::pair<std::string, int>, Executed> lines;
    std::vector<Executed> classes(static_cast<std::size_t>(Class::Count));
    for (std::size_t k = 0; k < classes.size(); ++k) classes[k].what = name(static_cast<Class>(k));
    InstructionCounts counts;
    const auto base = [](std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); };
    for (const Entry& entry : module_.entries) {
        const auto found = prepared_.find(&entry);
        if (found == prepared_.end()) continue;
        const Prepared* prepared = found->second.get();
        const Code& code = prepared->code;
        for (std::size_t k = 0; k < code.instrs.size(); ++k) {
            if (code.origin[k] < 0) continue;
            const Origin& origin = code.origins[static_cast<std::size_t>(code.origin[k])];
            const bool guard = code.instrs[k].kind == Instr::Kind::Guarded;
            const Tally& tally = guard ? prepared->guarded[k] : prepared->blocks[origin.block];
            const auto add = [&](Executed& to) {
                to.warps += tally.warps;
                to.lanes += tally.lanes;
                ++to.in_text;
            };
            counts.warps += tally.warps;
            counts.lanes += tally.lanes;
            add(opcodes[std::string(origin.opcode)]);
            add(classes[static_cast<std::size_t>(origin.what)]);
            const Place& place = module_.places[static_cast<std::size_t>(origin.place)];
            const int number = code.origin[k];
            ExecutedInstruction& shown = counts.code.emplace_back();
            shown.text = text_of(*module_.text, entry.instructions[static_cast<std::size_t>(number)]);
            shown.what = name(origin.what);
            shown.warps = tally.warps, shown.lanes = tally.lanes;
            if (number == 0) shown.entry = entry.demangled;
            for (const Label& label : entry.labels)
                if (label.instruction == number) shown.label = label.name;
            if (place.line > 0) shown.file = base(place.kernel_file), shown.line = place.kernel_line;
            if (place.line == 0) continue;
            add(lines[{base(place.kernel_file), place.kernel_line}]);
            add(innermost[fmt::format("{}:{}", base(place.file), place.line)]);
        }
    }
    for (auto& [what, row] : opcodes) row.what = what, counts.opcodes.push_back(std::move(row));
    for (auto& [what, row] : innermost) row.what = what, counts.innermost.push_back(std::move(row));
    for (auto& [at, row] : lines)
        row.what = fmt::format("{}:{}", at.first, at.second), counts.lines.push_back(std::move(row));
    counts.classes = std::move(classes);
    const auto more = [](const Executed& a, const Executed& b) { return a.lanes > b.lanes; };
    std::stable_sort(counts.opcodes.begin(), counts.opcodes.end(), more);
    std::stable_sort(counts.classes.begin(), counts.classes.end(), more);
    std::stable_sort(counts.innermost.begin(), counts.innermost.end(), more);
    return counts;
}

}  // namespace flashstep::gpu::ptx
