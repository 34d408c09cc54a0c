// The CUDA architectures that kernels are compiled for. Plain C++, read by nvcc too.
#pragma once

#include <array>
#include <compare>
#include <span>
#include <string>

namespace flashstep::gpu {

// sm_90 is {90}. sm_90a is {90, 'a'}: code with instructions of that one architecture, which no later one runs.
struct Target {
    int arch = 0;
    char variant = 0;  // 0: none

    constexpr Target(int architecture = 0, char letter = 0) : arch(architecture), variant(letter) {}
    auto operator<=>(const Target&) const = default;
    // Whether code for this target is what a run for `asked` takes: sm_90a can do all that sm_90 can.
    constexpr bool serves(Target asked) const {
        return arch == asked.arch && (variant == 0 || variant == asked.variant);
    }
};

inline std::string text(Target target) {  // "90", "90a"
    return std::to_string(target.arch) + (target.variant == 0 ? std::string() : std::string(1, target.variant));
}
inline std::string text(std::span<const Target> targets) {  // "sm_80, sm_90a"
    std::string all;
    for (const Target target : targets) all += (all.empty() ? "sm_" : ", sm_") + text(target);
    return all;
}

// What rungs list; cmake/cuda.cmake names the same ones.
inline constexpr std::array<Target, 7> kAllTargets{75, 80, 86, 89, 90, 100, 120};
inline constexpr std::array<Target, 6> kFromSm80{80, 86, 89, 90, 100, 120};

}  // namespace flashstep::gpu
