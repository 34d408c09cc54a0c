// The limits of a launch, the same for the executor and for a device.
#include "gpu/launch.h"

#include <fmt/format.h>

#include "core/error.h"

namespace flashstep::gpu {

std::int64_t opt_in_shared_bytes(Target target) {
    const bool known = target.variant == 0 || (target.variant == 'a' && target.arch >= 90);
    switch (known ? target.arch : 0) {
        case 75:
            return 64 * 1024;
        case 80:
        case 87:
            return 163 * 1024;
        case 86:
        case 89:
        case 120:
            return 99 * 1024;
        case 90:
        case 100:
            return 227 * 1024;
        default:
            throw Error(fmt::format("unknown target sm_{}", text(target)),
                        "known are 75, 80, 86, 87, 89, 90, 90a, 100, 100a, 120 and 120a");
    }
}

void check_launch(const Launch& launch, std::int64_t opt_in_bytes, std::string_view where) {
    const auto refuse = [&](const std::string& what, std::string hint = {}) {
        throw Error(fmt::format("{}: {}", launch.name, what), std::move(hint));
    };
    const auto [bx, by, bz] = launch.block;
    const auto [gx, gy, gz] = launch.grid;
    if (bx < 1 || by < 1 || bz < 1 || gx < 1 || gy < 1 || gz < 1) {
        refuse(fmt::format("grid ({}, {}, {}) and block ({}, {}, {}) must be at least 1 everywhere", gx, gy, gz, bx, by,
                           bz));
    }
    const std::int64_t threads = std::int64_t{bx} * by * bz;
    if (threads > 1024) refuse(fmt::format("a block of {} threads, the limit is 1024", threads));
    if (gy > 65535 || gz > 65535) refuse(fmt::format("grid ({}, {}, {}), the limit of y and z is 65535", gx, gy, gz));
    if (launch.shared_bytes > opt_in_bytes) {
        refuse(fmt::format("needs {} bytes of shared memory, {} allows {}", launch.shared_bytes, where, opt_in_bytes),
               "smaller blocks B_r, B_c need less");
    }
    if (launch.limit == SharedLimit::Default && launch.shared_bytes > kDefaultSharedBytes) {
        refuse(fmt::format("needs {} bytes of shared memory, the default allows {}", launch.shared_bytes,
                           kDefaultSharedBytes),
               "the launch has to opt in to more");
    }
}

}  // namespace flashstep::gpu
