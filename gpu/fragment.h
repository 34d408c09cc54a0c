// Which elements of a 16 x 8n result of tensor cores a lane holds (PTX ISA, mma.m16n8k16): as [n][e]. Read by nvcc too.
#pragma once

#include "gpu/device.h"

namespace flashstep::gpu {

constexpr int kWarpLanes = 32;

FS_DEVICE int fragment_row(int e) { return thread_idx().x % kWarpLanes / 4 + e / 2 * 8; }
FS_DEVICE int fragment_col(int n, int e) { return n * 8 + thread_idx().x % 4 * 2 + e % 2; }

}  // namespace flashstep::gpu
