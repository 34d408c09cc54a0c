// Memory and launches of the executor.
#include "gpu/simt/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace flashstep::gpu::simt {

namespace {

// Every 4 bytes of memory that nobody has written: a NaN that no arithmetic produces, in 32 and in 16 bits.
constexpr std::uint32_t kPoison = 0xffbaffba;

void poison(std::byte* bytes, std::size_t size) {
    std::size_t k = 0;
    for (; k + 4 <= size; k += 4) std::memcpy(bytes + k, &kPoison, 4);
    for (; k < size; ++k) bytes[k] = std::byte{0xff};
}

}  // namespace

Executor::Executor(Options options) : options_(options) {
    block_.checks = options_.checks;
    block_.counters = &counters_;
    block_.random = options_.seed;
    block_.cancel = options_.cancel;
    block_.target = options_.target.arch;
    block_.without_barrier = options_.without_barrier;
}

Tensor& Executor::add(std::string name, TensorRole role, std::int64_t count, std::int64_t element_bytes) {
    for (const Tensor& tensor : tensors_) {
        if (tensor.name == name) throw Error("two tensors are named " + name);
    }
    Tensor& tensor = tensors_.emplace_back();
    tensor.name = std::move(name);
    tensor.role = role;
    tensor.count = count;
    tensor.element_bytes = element_bytes;
    tensor.bytes.resize(static_cast<std::size_t>(count * element_bytes));
    tensor.address = static_cast<std::uint64_t>(tensors_.size()) << Tensor::kTensorBits;
    if (role != TensorRole::Input && role != TensorRole::Capture) {
        poison(tensor.bytes.data(), tensor.bytes.size());
        if (options_.checks == Checks::On) tensor.cells.resize(static_cast<std::size_t>(count));
    }
    return tensor;
}

std::uint64_t Executor::add_capture(std::string name, std::span<const float> values) {
    Tensor& tensor = add(std::move(name), TensorRole::Capture, static_cast<std::int64_t>(values.size()), sizeof(float));
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    return tensor.address;
}

const std::vector<std::byte>& Executor::bytes(std::string_view name) const {
    for (const Tensor& tensor : tensors_) {
        if (tensor.name == name) return tensor.bytes;
    }
    throw Error("no tensor is named " + std::string(name));
}

Tensor& Executor::find(std::string_view name, std::int64_t element_bytes) {
    for (Tensor& tensor : tensors_) {
        if (tensor.name != name) continue;
        if (tensor.element_bytes != element_bytes) {
            throw Error(fmt::format("{} has elements of {} bytes, not {}", name, tensor.element_bytes, element_bytes));
        }
        return tensor;
    }
    throw Error(fmt::format("no tensor is named {}", name));
}

void Executor::fill(std::string_view name, const std::vector<std::byte>& bytes) {
    zero(name);
    for (Tensor& tensor : tensors_)
        if (tensor.name == name) tensor.bytes = bytes;
}

void Executor::zero(std::string_view name) {
    for (Tensor& tensor : tensors_) {
        if (tensor.name != name) continue;
        std::fill(tensor.bytes.begin(), tensor.bytes.end(), std::byte{0});
        for (GlobalCell& cell : tensor.cells) cell.initialised = true;
        return;
    }
    throw Error(fmt::format("no tensor is named {}", name));
}

void Executor::prepare(const Launch& launch) {
    check_launch(launch, opt_in_shared_bytes(options_.target), fmt::format("sm_{}", text(options_.target)));
    const int threads = launch.block.x * launch.block.y * launch.block.z;
    if (!options_.front) stacks_.reserve(threads);
    block_.kernel = launch.name;
    block_.block_dim = launch.block;
    block_.grid_dim = launch.grid;
    block_.launch_start = block_.serial + 1;
    block_.warps.resize(static_cast<std::size_t>((threads + kWarp - 1) / kWarp));
    for (std::size_t w = 0; w < block_.warps.size(); ++w) {
        block_.warps[w].first = static_cast<int>(w) * kWarp;
        block_.warps[w].lanes = std::min(kWarp, threads - block_.warps[w].first);
    }
    block_.lanes.resize(static_cast<std::size_t>(threads));
    block_.ready.resize(static_cast<std::size_t>(threads));
    for (int id = 0; id < threads; ++id) {
        Lane& lane = block_.lanes[static_cast<std::size_t>(id)];
        lane.id = id;
        lane.thread = {id % launch.block.x, id / launch.block.x % launch.block.y,
                       id / (launch.block.x * launch.block.y)};
        lane.block = &block_;
        lane.warp = &block_.warps[static_cast<std::size_t>(id / kWarp)];
    }
    block_.shared_bytes = launch.shared_bytes;
    shared_.resize(static_cast<std::size_t>(launch.shared_bytes + 16));
    const auto misaligned = reinterpret_cast<std::uintptr_t>(shared_.data()) % 16;
    block_.shared = shared_.data() + (16 - misaligned) % 16;
    if (options_.checks == Checks::On) {
        block_.shared_cells.assign(static_cast<std::size_t>((launch.shared_bytes >> block_.granule_bits) + 1),
                                   SharedCell{});
    }
}

void Executor::prepare_block(const Launch& launch, std::int64_t linear) {
    const auto x = launch.grid.x, y = launch.grid.y;
    block_.index = {static_cast<int>(linear % x), static_cast<int>(linear / x % y), static_cast<int>(linear / x / y)};
    ++block_.serial;
    poison(block_.shared, static_cast<std::size_t>(launch.shared_bytes));
    if (options_.front) return;
    for (Lane& lane : block_.lanes) {
        // The tops of the stacks lie a multiple of 4096 bytes apart, in the same set of the cache: they are spread.
        const auto spread = static_cast<std::size_t>(lane.id % kWarp) * 128;
        lane.fibre.start(stacks_.bottom(lane.id), stacks_.bytes() - spread, &Block::run_lane, &lane, block_.home);
    }
}

void Executor::run(const Launch& launch, void (*body)(void*), void* argument) {
    prepare(launch);
    block_.body = body;
    block_.body_argument = argument;
    const std::int64_t blocks = std::int64_t{launch.grid.x} * launch.grid.y * launch.grid.z;
    std::vector<std::int64_t> order(static_cast<std::size_t>(blocks));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t k = order.size(); k > 1; --k) std::swap(order[k - 1], order[block_.next_random() % k]);
    for (std::int64_t done = 0; done < blocks; ++done) {
        if (options_.cancel && options_.cancel->load(std::memory_order_relaxed)) throw Error("cancelled");
        prepare_block(launch, order[static_cast<std::size_t>(done)]);
        options_.front ? options_.front->run(block_) : block_.run();
        if (options_.progress) {
            const float part = static_cast<float>(done + 1) / static_cast<float>(blocks);
            options_.progress->store((static_cast<float>(launches_done_) + part) /
                                     static_cast<float>(std::max(options_.launches, launches_done_ + 1)));
        }
    }
    ++launches_done_;
}

void Executor::run_in_front(const Call& call) {
    Launch launch = *call.launch;
    launch.shared_bytes = options_.front->begin(call, tensors_);
    run(launch, nullptr, nullptr);
}

void Executor::check_outputs() const {
    for (const Tensor& tensor : tensors_) {
        if (tensor.role != TensorRole::Output) continue;
        for (std::int64_t k = 0; k < tensor.count; ++k) {
            bool written = true;
            if (!tensor.cells.empty()) {
                written = tensor.cells[static_cast<std::size_t>(k)].initialised;
            } else if (tensor.element_bytes == 2 || tensor.element_bytes == 4) {
                written = std::memcmp(tensor.bytes.data() + tensor.element_bytes * k, &kPoison,
                                      static_cast<std::size_t>(tensor.element_bytes)) != 0;
            }
            if (!written)
                throw Error(fmt::format("{}: output {}[{}] was never written", block_.kernel, tensor.name, k));
        }
    }
}

}  // namespace flashstep::gpu::simt
