// Runs a kernel and gathers what it produced.
#include "gpu/run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <optional>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/error.h"
#include "core/say.h"
#include "core/starting_values.h"
#include "gpu/cuda/backend.h"
#include "gpu/host_tensor.h"
#include "gpu/ptx/machine.h"
#include "gpu/rungs.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

namespace {

constexpr std::int64_t kMaxCaptureBytes = std::int64_t{1} << 31;
// Marks a place in the capture buffer that the probe has not written.
constexpr std::uint32_t kNotCaptured = 0xffbad1ff;
constexpr const char* kCaptured = "captured values";

// Rows or columns of a slot's tile, where a tile has `queries` x `keys` scores.
int length(Extent extent, const AttentionShape& p, int queries, int keys) {
    switch (extent) {
        case Extent::Queries:
            return queries;
        case Extent::Keys:
            return keys;
        case Extent::HeadColumns:
            return p.d;
        case Extent::ValueColumns:
            return p.dv;
        case Extent::One:
            return 1;
    }
    return 0;
}

// Lays out the capture buffer: slot after slot, each [head, i, j, padded tile].
Probe lay_out(const Rung& row, const AttentionShape& p, std::vector<float>& buffer) {
    Probe probe{};
    probe.row_blocks = p.row_blocks();
    probe.col_blocks = p.col_blocks();
    std::int64_t size = 0;
    for (const SlotSpec& slot : row.slots) {
        const auto s = static_cast<std::size_t>(slot.slot);
        probe.first[s] = size;
        probe.stride[s] = std::int64_t{length(slot.rows, p, p.B_r, p.B_c)} * length(slot.cols, p, p.B_r, p.B_c);
        size += probe.stride[s] * p.total_heads() * p.row_blocks() * p.col_blocks();
    }
    if (size * 4 > kMaxCaptureBytes) {
        throw Error(say("{}: capturing every tile takes {} bytes, the limit is {}",
                        "{}：采集全部 tile 需要 {} 字节，上限是 {}", row.id, size * 4, kMaxCaptureBytes),
                    {"run it without capture, or on a smaller problem", "请不采集中间值，或缩小问题规模"});
    }
    buffer.assign(static_cast<std::size_t>(size), std::bit_cast<float>(kNotCaptured));
    probe.values = buffer.data();
    return probe;
}

void collect_tiles(const Rung& row, const AttentionShape& p, const Probe& probe, KernelRun& run) {
    for (const SlotSpec& slot : row.slots) {
        const int padded = length(slot.cols, p, p.B_r, p.B_c);
        for (int head = 0; head < p.total_heads(); ++head) {
            for (int i = 0; i < p.row_blocks(); ++i) {
                for (int j = 0; j < p.visible_blocks(i); ++j) {
                    const float* tile = probe.values + probe.place(slot.slot, head, i, j);
                    Matrix values(length(slot.rows, p, p.rows(i), p.cols(j)),
                                  length(slot.cols, p, p.rows(i), p.cols(j)));
                    for (int r = 0; r < values.rows(); ++r) {
                        for (int c = 0; c < values.cols(); ++c) {
                            const float value = tile[r * padded + c];
                            if (std::bit_cast<std::uint32_t>(value) == kNotCaptured) {
                                throw Error(fmt::format("{}: {} of head {}, tile ({}, {}) was not captured at ({}, {})",
                                                        row.id, slot.name, head, i, j, r, c));
                            }
                            values(r, c) = value;
                        }
                    }
                    run.captured.emplace(SlotKey{std::string(slot.name), head, i, j}, std::move(values));
                }
            }
        }
    }
}

void collect_tensor(const TensorSpec& spec, const std::vector<float>& all, KernelRun& run) {
    const float* values = all.data();
    for (int head = 0; head < spec.heads; ++head) {
        Matrix matrix(spec.rows, spec.cols);
        for (Eigen::Index e = 0; e < matrix.size(); ++e) matrix.data()[e] = *values++;
        run.captured.emplace(SlotKey{std::string(spec.name), head, -1, -1}, std::move(matrix));
    }
}

std::vector<float> flatten(const std::vector<Matrix>& heads) {
    std::vector<float> values;
    for (const Matrix& matrix : heads) {
        for (Eigen::Index e = 0; e < matrix.size(); ++e) values.push_back(static_cast<float>(matrix.data()[e]));
    }
    return values;
}

// The matrices that a kernel reads, by name, and those of them that are not in the problem's inputs: the scores, or
// what the forward pass left in HBM, as the mirror has them.
class Reads {
  public:
    Reads(const Rung& row, const AttentionShape& p, const KernelInfo& kernel, const Problem& problem,
          const Inputs& inputs, const StartingValues* start)
        : given_{{"Q", &inputs.Q}, {"K", &inputs.K}, {"V", &inputs.V}, {"dO", &inputs.dO}} {
        if (problem.mask != MaskShape::None) {
            mask_.push_back(inputs.mask);
            given_["M"] = &mask_;
        }
        const auto specs = row.tensors(p);
        if (std::ranges::all_of(specs, [&](const TensorSpec& s) {
                return s.role != TensorRole::Input || given_.contains(std::string(s.name));
            })) {
            return;
        }
        if (!start) own_start_ = starting_values(*find_algorithm(kernel.algorithm), problem, inputs);
        for (const auto& [name, matrices] : start ? *start : own_start_) given_[name] = &matrices;
    }
    Reads(const Reads&) = delete;

    std::vector<float> operator[](std::string_view name) const {
        const auto found = given_.find(std::string(name));
        if (found == given_.end()) throw Error(fmt::format("no input is named {}", name));
        return flatten(*found->second);
    }

  private:
    std::vector<Matrix> mask_;
    StartingValues own_start_;
    std::map<std::string, const std::vector<Matrix>*> given_;
};

// On the executor: what the host compiler made of the kernel's source, or what nvcc did.
void run_on_executor(const Rung& row, const AttentionShape& p, const Reads& inputs, const RunOptions& options,
                     KernelRun& run) {
    const bool from_ptx = options.where == Where::Ptx;
    const std::string source = fmt::format("{}.cuh", row.id);
    std::optional<ptx::Machine> front;
    if (from_ptx) front.emplace(*options.ptx);
    simt::Executor machine({.checks = options.checks,
                            .seed = options.seed,
                            .target = from_ptx ? options.ptx->target : options.target,
                            .cancel = options.cancel,
                            .progress = options.progress,
                            .launches = row.launches,
                            .without_barrier = {source.c_str(), options.without_line},
                            .front = from_ptx ? &*front : nullptr});
    const auto specs = row.tensors(p);
    for (const TensorSpec& spec : specs) {
        const std::string name(spec.name);
        switch (spec.role) {
            case TensorRole::Input:
                machine.add_input(name, encoded(inputs[name], spec.element), bytes_of(spec.element));
                break;
            case TensorRole::Output:
                machine.add_output(name, spec.count(), bytes_of(spec.element));
                break;
            case TensorRole::Temporary:
                machine.add_temporary(name, spec.count(), bytes_of(spec.element));
                break;
            case TensorRole::Capture:
                break;  // of no kernel's list
        }
    }
    const bool capture = options.capture == Capture::On;
    std::vector<float> buffer;
    const bool probed = capture && !row.slots.empty();
    Probe probe = probed ? lay_out(row, p, buffer) : Probe{};
    if (probed && from_ptx) {  // there are addresses only
        const std::uint64_t address = machine.add_capture(kCaptured, buffer);
        probe.values = reinterpret_cast<float*>(static_cast<std::uintptr_t>(address));
    }
    row.launch_on_host(machine, p, probed ? &probe : nullptr);
    machine.check_outputs();
    if (probed && from_ptx) {
        const std::vector<std::byte>& captured = machine.bytes(kCaptured);
        std::memcpy(buffer.data(), captured.data(), captured.size());
        probe.values = buffer.data();
    }
    if (from_ptx) {
        run.device = fmt::format("sm_{}", text(options.ptx->target));
        run.instructions = front->counts();
    }

    if (probed) collect_tiles(row, p, probe, run);
    for (const TensorSpec& spec : specs) {
        if (spec.captured && (capture || spec.role == TensorRole::Output)) {
            collect_tensor(spec, decoded(machine.bytes(spec.name), spec.element), run);
        }
    }
    for (const simt::Tensor& tensor : machine.tensors()) {
        if (tensor.role != TensorRole::Capture) run.hbm[tensor.name] = {tensor.read_bytes, tensor.write_bytes};
    }
    const simt::Counters& c = machine.counters();
    run.counters = {{"block barriers", c.barriers},
                    {"warp barriers", c.warp_barriers},
                    {"shuffles", c.shuffles},
                    {"atomics", c.atomics},
                    {"exponentials", c.exponentials}};
    const auto add_if_any = [&](const char* name, std::int64_t count) {
        if (count > 0) run.counters.emplace_back(name, count);
    };
    add_if_any("mma instructions", c.mma);
    add_if_any("ldmatrix instructions", c.ldmatrix);
    add_if_any("asynchronous copies", c.async_copies);
    add_if_any("bytes copied asynchronously", c.async_bytes);
    add_if_any("waits taken away", c.left_out);
    if (options.checks == Checks::On) {
        run.counters.insert(run.counters.end(), {{"shared bytes read", c.shared_read_bytes},
                                                 {"shared bytes written", c.shared_write_bytes},
                                                 {"shared wavefronts", c.wavefronts},
                                                 {"shared wavefronts, ideal", c.ideal_wavefronts}});
        if (c.accesses_not_grouped > 0) {
            run.counters.emplace_back("shared accesses without wavefronts", c.accesses_not_grouped);
        }
    }
}

void run_on_device(const Rung& row, const AttentionShape& p, const Reads& inputs, const RunOptions& options,
                   KernelRun& run) {
    cuda::Buffers buffers;
    buffers.specs = row.tensors(p);
    for (const TensorSpec& spec : buffers.specs) {
        buffers.values.push_back(encoded(spec.role == TensorRole::Input
                                             ? inputs[spec.name]
                                             : std::vector<float>(static_cast<std::size_t>(spec.count())),
                                         spec.element));
    }
    const bool capture = options.capture == Capture::On;
    const bool probed = capture && !row.slots.empty();
    buffers.probe = probed ? lay_out(row, p, buffers.probed) : Probe{};
    run.device = cuda::run(row.id, p, buffers);
    buffers.probe.values = buffers.probed.data();
    if (probed) collect_tiles(row, p, buffers.probe, run);
    for (std::size_t k = 0; k < buffers.specs.size(); ++k) {
        const TensorSpec& spec = buffers.specs[k];
        if (spec.captured && (capture || spec.role == TensorRole::Output)) {
            collect_tensor(spec, decoded(buffers.values[k], spec.element), run);
        }
    }
}

std::string joined(const auto& values, std::string_view between) {
    return fmt::format("{}", fmt::join(values, between));
}

}  // namespace

std::vector<Target> targets_of(const KernelInfo& kernel, DType dtype) {
    std::vector<Target> targets = kernel.targets;
    // sm_75 multiplies no bf16 on its tensor cores.
    if (dtype == DType::Bf16) std::erase_if(targets, [](Target target) { return target < 80; });
    return targets;
}

void check_target(const KernelInfo& kernel, DType dtype, Target target) {
    opt_in_shared_bytes(target);  // an unknown one is another error
    const std::vector<Target> targets = targets_of(kernel, dtype);
    if (std::ranges::any_of(targets, [&](Target own) { return own.serves(target); })) return;
    throw Error(say("{} runs on {} with {}, not on sm_{}", "{0}（{2}）可在 {1} 上运行，不支持 sm_{3}", kernel.id,
                    text(targets), name(dtype), text(target)));
}

void check_runnable(const KernelInfo& kernel, const Problem& problem) {
    validate(problem);
    if (std::ranges::find(kernel.dtypes, problem.dtype) == kernel.dtypes.end()) {
        std::vector<std::string_view> names;
        for (DType dtype : kernel.dtypes) names.push_back(name(dtype));
        throw Error(say("{} does not run {}; it runs {}", "{} 不支持 {}，只支持 {}", kernel.id, name(problem.dtype),
                        joined(names, ", ")));
    }
    const auto base = [](bool base2) {
        return base2 ? Sentence("base-2", "以 2 为底") : Sentence("natural", "以 e 为底");
    };
    if (find_algorithm(kernel.algorithm)->base2 && problem.base2 != kernel.base2) {
        throw Error(say("{} takes {} exponentials, the problem asks for {} ones", "{} 使用{}的指数，而问题要求{}的指数",
                        kernel.id, base(kernel.base2), base(problem.base2)));
    }
    if (problem.mask != MaskShape::None && !kernel.takes_mask) {
        throw Error(say("{} takes no additive mask; it runs causal or no mask",
                        "{} 不支持加性掩码，只支持因果掩码或无掩码", kernel.id));
    }
    if (kernel.br > 0 && (problem.br != kernel.br || problem.bc != kernel.bc)) {
        throw Error(say("{} has B_r = {}, B_c = {}; the problem asks for {} and {}",
                        "{} 的分块固定为 B_r = {}、B_c = {}，而问题要求 {} 和 {}", kernel.id, kernel.br, kernel.bc,
                        problem.br, problem.bc));
    }
    if (kernel.most_head_dim > 0 && std::max(problem.d, problem.dv) > kernel.most_head_dim) {
        throw Error(say("{} does not run head dimensions d = {}, d_v = {}; it runs those up to {}",
                        "{} 不支持 head 维度 d = {}、d_v = {}，最大支持 {}", kernel.id, problem.d, problem.dv,
                        kernel.most_head_dim));
    }
    const auto supports = [&](int d) {
        return kernel.most_head_dim > 0 || kernel.head_dims.empty() ||
               std::ranges::find(kernel.head_dims, d) != kernel.head_dims.end();
    };
    if (!supports(problem.d) || !supports(problem.dv)) {
        throw Error(say("{} does not run head dimensions d = {}, d_v = {}; it runs {}",
                        "{} 不支持 head 维度 d = {}、d_v = {}，只支持 {}", kernel.id, problem.d, problem.dv,
                        joined(kernel.head_dims, ", ")));
    }
    const Rung& row = rung(kernel.id);
    const AttentionShape shape = shape_of(kernel, problem);
    const std::int64_t limit = std::numeric_limits<int>::max();
    // Before the blocks: their count is a product of these.
    for (const TensorSpec& tensor : row.tensors(shape)) {
        if (const std::int64_t elements = std::int64_t{tensor.rows} * tensor.cols; elements > limit) {
            throw Error(say("{}: {} of one head has {} elements, the limit is {}",
                            "{}：单个 head 的 {} 有 {} 个元素，上限是 {}", kernel.id, tensor.name, elements, limit));
        }
    }
    std::int64_t largest = 0;
    Target target;
    for (Target candidate : kernel.targets) {
        if (opt_in_shared_bytes(candidate) > largest) largest = opt_in_shared_bytes(target = candidate);
    }
    if (const std::int64_t needs = row.shared_bytes(shape); needs > largest) {
        throw Error(say("{}: B_r = {}, B_c = {}, d = {}, d_v = {} need {} bytes of shared memory, the largest "
                        "target (sm_{}) allows {}",
                        "{}：B_r = {}、B_c = {}、d = {}、d_v = {} 需要 {} 字节 shared "
                        "memory，而容量最大的目标架构（sm_{}）只允许 {}",
                        kernel.id, problem.br, problem.bc, problem.d, problem.dv, needs, text(target), largest),
                    {"smaller blocks B_r, B_c need less", "请减小分块 B_r、B_c"});
    }
    if (const std::int64_t blocks = row.blocks(shape); blocks > limit) {
        throw Error(say("{}: {} thread blocks, the limit is {}", "{}：需要 {} 个 thread block，上限是 {}", kernel.id,
                        blocks, limit));
    }
}

KernelRun run_kernel(const KernelInfo& kernel, const Problem& problem, const Inputs& inputs,
                     const RunOptions& options) {
    check_runnable(kernel, problem);
    validate(problem, inputs);
    KernelRun run;
    run.kernel = kernel.id;
    run.where = options.where;
    if (options.where == Where::Recorded) throw Error("a recorded run is read from its file, not run");
    if (options.where != Where::Host && options.without_line != 0)
        throw Error(say("a wait is taken away on the executor only: a device would run on, right or wrong",
                        "只有在执行器上才能去掉 wait：真正的 GPU 会照样运行，结果对不对都不报告"));
    if (options.where == Where::Host) check_target(kernel, problem.dtype, options.target);
    if (options.where == Where::Ptx) {
        if (!options.ptx) throw Error("no PTX is given to run");
        check_target(kernel, problem.dtype, options.ptx->target);
    }
    if (options.where == Where::LiveCuda) check_device(kernel, problem.dtype, device_status());
    const Rung& row = rung(kernel.id);
    const AttentionShape shape = shape_of(kernel, problem);
    const Reads reads(row, shape, kernel, problem, inputs, options.start);
    switch (options.where) {
        case Where::Host:
        case Where::Ptx:
            run_on_executor(row, shape, reads, options, run);
            break;
        case Where::LiveCuda:
            run_on_device(row, shape, reads, options, run);
            break;
        case Where::Recorded:
            break;
    }
    return run;
}

std::int64_t shared_bytes(const KernelInfo& kernel, const Problem& problem) {
    return rung(kernel.id).shared_bytes(shape_of(kernel, problem));
}

std::map<std::string, TensorBytes> own_bytes(const KernelInfo& kernel, const Problem& problem) {
    return rung(kernel.id).bytes(shape_of(kernel, problem));
}

std::map<std::string, TensorBytes> expected_bytes(const KernelInfo& kernel, const Problem& problem, const Trace& mirror,
                                                  const KernelRun& run) {
    auto expected = kernel.bytes_equal_mirror ? bytes_of(mirror) : own_bytes(kernel, problem);
    if (run.where != Where::Ptx) return expected;
    for (auto& [tensor, bytes] : expected)
        if (const auto moved = run.hbm.find(tensor); moved != run.hbm.end())
            bytes.read = std::min(bytes.read, moved->second.read);
    return expected;
}

DeviceStatus device_status() { return cuda::status(); }

void check_device(const KernelInfo& kernel, DType dtype, const DeviceStatus& device) {
    if (!device.available) throw Error(device.message);
    const std::vector<Target> targets = targets_of(kernel, dtype);
    // Machine code for a target runs on later devices of its generation: sm_80's on sm_87. A variant's does not.
    const auto serve = [&](int architecture) {
        return std::ranges::any_of(targets, [&](Target target) {
            return target.variant == 0 ? target.arch / 10 == architecture / 10 && target.arch <= architecture
                                       : target.arch == architecture;
        });
    };
    if (serve(device.code)) return;
    if (serve(device.capability)) {
        throw Error(say("{} in {} runs on {}; what {} (sm_{}) runs of this build is code for sm_{}",
                        "{}（{}）可在 {} 上运行，而 {}（sm_{}）在这个构建中只能运行 sm_{} 的代码", kernel.id,
                        name(dtype), text(targets), device.name, device.capability, device.code),
                    say("configure with {}-real in CMAKE_CUDA_ARCHITECTURES",
                        "配置时请在 CMAKE_CUDA_ARCHITECTURES 中加入 {}-real", device.capability));
    }
    throw Error(say("{} in {} runs on {}, not on sm_{} ({})", "{}（{}）可在 {} 上运行，不支持 sm_{}（{}）", kernel.id,
                    name(dtype), text(targets), device.capability, device.name),
                {"on the host the executor runs it (--on host)", "可在本机 CPU 上由执行器运行"});
}

}  // namespace flashstep::gpu
