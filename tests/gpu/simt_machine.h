// What tests of the executor share: launches of small kernels, and what the executor says about them.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "gpu/device.h"
#include "gpu/simt/executor.h"

namespace flashstep::gpu {

inline Launch launch_of(int threads, std::int64_t shared_bytes = 0, int blocks = 1) {
    return {.name = "test", .grid = {blocks, 1, 1}, .block = {threads, 1, 1}, .shared_bytes = shared_bytes};
}

// What the executor says; empty: nothing.
template <class... Parameters, class... Arguments>
std::string error_of(simt::Executor& machine, const Launch& launch, void (*kernel)(Parameters...),
                     Arguments... arguments) {
    try {
        machine.launch(launch, kernel, arguments...);
        machine.check_outputs();
    } catch (const Error& error) { return error.what(); }
    return {};
}

inline bool says(const std::string& message, std::string_view part) {
    INFO(message);
    const bool found = message.find(part) != std::string::npos;
    CHECK(found);
    return found;
}

struct Machine {  // an executor with one output "out"
    explicit Machine(int count, simt::Options options = {}) : executor(options) {
        executor.add_output<float>("out", count);
    }
    Global<float> out() { return executor.write("out"); }
    std::vector<float> values() {
        const auto span = executor.values<float>("out");
        return {span.begin(), span.end()};
    }
    const simt::Counters& counters() const { return executor.counters(); }
    simt::Executor executor;
};

}  // namespace flashstep::gpu
