// The SIMT executor: runs CUDA kernels on the CPU, block by block, one fibre per thread, and checks what they do.
//
// Threads run until they wait at a barrier or a warp collective; a warp collective runs when the last lane arrives.
// With checks on it finds: deadlock and divergent barriers; races in a block (two accesses, one a write, without a
// block or warp barrier between, atomics against each other excepted) and between the blocks of a launch; asynchronous
// copies that are not waited for, or whose destination is touched before the wait; accesses out of bounds or not
// aligned; reads of shared or global memory that nobody wrote; outputs left unwritten; shared memory over the limit of
// the target, and instructions that it has not got. Blocks and threads run in an order that a seed shuffles. Blocks run
// one after another, so a kernel that waits for another block would never end, and one that spins on another thread's
// write would not either.
#pragma once

#include <atomic>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include "core/error.h"
#include "gpu/checks.h"
#include "gpu/device.h"
#include "gpu/launch.h"
#include "gpu/simt/call_site.h"

namespace flashstep::gpu::simt {

// What code that knows no views gets of a launch: the parameters' types as a function's, and their bytes.
struct Call {
    const Launch* launch;
    const std::type_info* type;  // of void (*)(parameters...), views as pointers
    std::vector<std::vector<std::byte>> parameters;
};

// Runs the blocks of a launch instead of the kernel that the host compiler made.
class Front {
  public:
    virtual ~Front() = default;
    // Before a launch; gives the dynamic and static shared memory of a block, in bytes.
    virtual std::int64_t begin(const Call& call, std::list<Tensor>& tensors) = 0;
    virtual void run(Block& block) = 0;  // to its end; throws Error
};

struct Options {
    Checks checks = Checks::On;
    std::uint64_t seed = 1;  // of the order of blocks and threads
    Target target = 90;      // architecture whose limits apply: shared memory, and words that it has not got
    const std::atomic<bool>* cancel = nullptr;
    std::atomic<float>* progress = nullptr;
    int launches = 1;  // how many are expected, for progress
    // Source line (in the files whose names end so) whose barriers and waits do nothing: shows that a kernel needs
    // them.
    CallSite without_barrier = {};
    Front* front = nullptr;  // null: the kernel as the host compiler made it
};

class Executor {
  public:
    explicit Executor(Options options);
    Executor(const Executor&) = delete;
    Executor& operator=(const Executor&) = delete;

    // Arrays in global memory. The views below find them by name.
    template <class T>
    void add_input(std::string name, std::span<const T> values) {
        Tensor& tensor = add(std::move(name), TensorRole::Input, static_cast<std::int64_t>(values.size()), sizeof(T));
        std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    }
    void add_input(std::string name, const std::vector<std::byte>& values, std::int64_t element_bytes) {
        Tensor& tensor = add(std::move(name), TensorRole::Input,
                             static_cast<std::int64_t>(values.size()) / element_bytes, element_bytes);
        tensor.bytes = values;
    }
    void add_output(std::string name, std::int64_t count, std::int64_t element_bytes) {
        add(std::move(name), TensorRole::Output, count, element_bytes);
    }
    void add_temporary(std::string name, std::int64_t count, std::int64_t element_bytes) {
        add(std::move(name), TensorRole::Temporary, count, element_bytes);
    }
    // A probe's buffer, of fp32. Gives the address that code without views knows it by.
    std::uint64_t add_capture(std::string name, std::span<const float> values);
    // The same with elements of a C++ type.
    template <class T>
    void add_output(std::string name, std::int64_t count) {
        add(std::move(name), TensorRole::Output, count, sizeof(T));
    }
    template <class T>
    void add_temporary(std::string name, std::int64_t count) {
        add(std::move(name), TensorRole::Temporary, count, sizeof(T));
    }
    // Sets an output or temporary to zero, as cudaMemset does before a launch; not counted.
    void zero(std::string_view name);
    // Sets one to what the host has written there.
    void fill(std::string_view name, const std::vector<std::byte>& bytes);

    template <class T = float>
    Global<const T> read(std::string_view name) {
        return {find(name, sizeof(T)), options_.checks};
    }
    template <class T = float>
    Global<T> write(std::string_view name) {
        Tensor& tensor = find(name, sizeof(T));
        if (tensor.role == TensorRole::Input) throw Error(tensor.name + " is an input: kernels only read it");
        return {tensor, options_.checks};
    }

    // Runs all blocks of the grid. Throws Error: limits, a failed check, "cancelled".
    template <class... Parameters, class... Arguments>
    void launch(const Launch& launch, void (*kernel)(Parameters...), const Arguments&... arguments) {
        if (options_.front) {
            run_in_front({&launch,
                          &typeid(void (*)(on_device_t<Parameters>...)),
                          {parameter_bytes(static_cast<Parameters>(arguments))...}});
            return;
        }
        const auto body = [&] { kernel(arguments...); };
        run(
            launch, [](void* call) { (*static_cast<decltype(body)*>(call))(); },
            const_cast<void*>(static_cast<const void*>(&body)));
    }

    // The same for code that has no function here: in the front that the options name.
    void run_in_front(const Call& call);

    // Throws Error if an element of an output was never written.
    void check_outputs() const;

    template <class T>
    std::span<const T> values(std::string_view name) const {
        const Tensor& tensor = const_cast<Executor*>(this)->find(name, sizeof(T));
        return {reinterpret_cast<const T*>(tensor.bytes.data()), static_cast<std::size_t>(tensor.count)};
    }
    // As it lies in memory. Throws Error if there is no such tensor.
    const std::vector<std::byte>& bytes(std::string_view name) const;
    const std::list<Tensor>& tensors() const { return tensors_; }
    const Counters& counters() const { return counters_; }

  private:
    // A parameter as a device has it: a view is a pointer.
    template <class P>
    struct OnDevice {
        using type = P;
    };
    template <class T>
    struct OnDevice<Global<T>> {
        using type = T*;
    };
    template <class P>
    using on_device_t = typename OnDevice<P>::type;
    template <class P>
    static std::vector<std::byte> parameter_bytes(const P& parameter) {
        const auto copy = [](const auto& value) {
            const auto* bytes = reinterpret_cast<const std::byte*>(&value);
            return std::vector<std::byte>(bytes, bytes + sizeof value);
        };
        if constexpr (std::is_same_v<on_device_t<P>, P>) {
            return copy(parameter);
        } else {
            return copy(parameter.address());
        }
    }
    Tensor& add(std::string name, TensorRole role, std::int64_t count, std::int64_t element_bytes);
    Tensor& find(std::string_view name, std::int64_t element_bytes);
    void run(const Launch& launch, void (*body)(void*), void* argument);
    void prepare(const Launch& launch);
    void prepare_block(const Launch& launch, std::int64_t linear);

    Options options_;
    std::list<Tensor> tensors_;  // addresses stay: views point here
    Counters counters_;
    StackPool stacks_;
    Block block_;
    std::vector<std::byte> shared_;
    int launches_done_ = 0;
};

}  // namespace flashstep::gpu::simt
