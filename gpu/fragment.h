// Which elements of a 16 x 8n result of tensor cores a lane holds (PTX ISA, mma.m16n8k16): as [n][e]. Read by nvcc too.
#pragma once

#include "gpu/device.h"

namespace flashstep::gpu {

constexpr int kWarpLanes = 32;

// Bits instead of quotients: indices are signed here, and a device divides signed numbers in several instructions.
FS_DEVICE int lane_index() { return thread_idx().x & (kWarpLanes - 1); }
FS_DEVICE int fragment_row(int e) { return (lane_index() >> 2) + e / 2 * 8; }
FS_DEVICE int fragment_col(int n, int e) { return n * 8 + (lane_index() & 3) * 2 + e % 2; }

}  // namespace flashstep::gpu
