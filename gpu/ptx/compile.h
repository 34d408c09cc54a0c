// What nvcc makes of a kernel: its PTX for a target, compiled when asked and kept in a cache.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gpu/ptx/module.h"
#include "gpu/target.h"

namespace flashstep::gpu::ptx {

struct Nvcc {
    std::string path;
    std::string version;  // "13.0.88"
};

// $CUDACXX, in PATH, or where the toolkit installs itself. None: a machine without one.
std::optional<Nvcc> find_nvcc();

// Where the kernels' sources are: the folder that this program was built from.
std::string source_folder();

// Why the PTX of no kernel can be made here; empty: it can.
std::string why_not_compile();

// The PTX of a kernel, with its probe and without, from the sources below `sources` (gpu/kernels/ID.cuh and what it
// includes). Kept below $XDG_CACHE_HOME/flashstep by what it is made of: sources, target, nvcc's version. Throws Error:
// no nvcc, no sources, or what nvcc says.
std::shared_ptr<const Module> compile_kernel(std::string_view id, Target target,
                                             const std::string& sources = source_folder());

// The same for a translation unit of one's own.
std::shared_ptr<const Module> compile_unit(const std::string& unit, const std::string& name, Target target,
                                           const std::string& sources = source_folder());

}  // namespace flashstep::gpu::ptx
