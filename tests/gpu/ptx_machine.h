// What tests of the PTX front end share: a module from text, run by the executor on arrays.
#pragma once

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <string>
#include <vector>

#include "core/error.h"
#include "gpu/ptx/machine.h"

namespace flashstep::gpu {

// A module with one entry "test" of parameters p0, p1, ... (64-bit addresses), for sm_80.
inline std::string ptx_module(const std::string& body, int parameters = 1, const std::string& outside = "",
                              const std::string& target = "sm_80") {
    std::string text = ".version 8.0\n.target " + target + "\n.address_size 64\n" + outside + "\n.visible .entry test(";
    for (int k = 0; k < parameters; ++k) text += fmt::format("{}.param .u64 p{}", k == 0 ? "" : ", ", k);
    return text +
           ")\n{\n.reg .pred %p<20>;\n.reg .b16 %rs<20>;\n.reg .b32 %r<40>;\n.reg .f32 %f<40>;\n.reg .b64 "
           "%rd<40>;\n.reg .f64 %fd<20>;\n" +
           body + "\n}\n";
}

// Runs the first entry of a module; arrays are parameters in their order.
class PtxRun {
  public:
    explicit PtxRun(const std::string& text, simt::Options options = {})
        : module_(ptx::read_module(text, "test.ptx")), machine_(module_) {
        machine_.choose(module_.entries.front());
        options.front = &machine_;
        options.target = module_.target;
        executor_ = std::make_unique<simt::Executor>(options);
    }
    template <class T>
    PtxRun& input(std::string name, const std::vector<T>& values) {
        executor_->add_input<T>(name, std::span<const T>(values));
        return pointer();
    }
    template <class T>
    PtxRun& output(std::string name, int count) {
        executor_->add_output<T>(name, count);
        return pointer();
    }
    void launch(int threads, std::int64_t shared_bytes = 0, int blocks = 1) {
        const Launch launch{
            .name = "test", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared_bytes};
        executor_->run_in_front({&launch, &typeid(void), parameters_});
    }
    std::string error(int threads, std::int64_t shared_bytes = 0, int blocks = 1) {
        try {
            launch(threads, shared_bytes, blocks);
            executor_->check_outputs();
        } catch (const Error& error) { return error.what(); }
        return {};
    }
    template <class T>
    std::vector<T> values(std::string_view name) {
        const auto span = executor_->values<T>(name);
        return {span.begin(), span.end()};
    }
    const simt::Counters& counters() const { return executor_->counters(); }
    const simt::Executor& executor() const { return *executor_; }
    const ptx::Machine& machine() const { return machine_; }

  private:
    PtxRun& pointer() {
        const std::uint64_t address = executor_->tensors().back().address;
        std::vector<std::byte> bytes(8);
        std::memcpy(bytes.data(), &address, 8);
        parameters_.push_back(bytes);
        return *this;
    }
    ptx::Module module_;
    ptx::Machine machine_;
    std::unique_ptr<simt::Executor> executor_;
    std::vector<std::vector<std::byte>> parameters_;
};

}  // namespace flashstep::gpu
