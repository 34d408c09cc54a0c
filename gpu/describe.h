// A rung's type as plain values: its row of the registry, and how it is run.
#pragma once

#include "gpu/rungs.h"

namespace flashstep::gpu {

template <class R>
KernelInfo info_of() {
    KernelInfo info{.id = R::id,
                    .title = R::title,
                    .algorithm = R::algorithm,
                    .dtypes = {R::dtypes.begin(), R::dtypes.end()},
                    .head_dims = {R::head_dims.begin(), R::head_dims.end()},
                    .targets = {R::targets.begin(), R::targets.end()},
                    .slots = {},
                    .order_dependent = {R::order_dependent.begin(), R::order_dependent.end()},
                    .bytes_equal_mirror = R::bytes_equal_mirror,
                    .most_head_dim = R::most_head_dim,
                    .br = R::br,
                    .bc = R::bc,
                    .takes_mask = R::takes_mask,
                    .overflows = R::overflows,
                    .base2 = R::base2};
    for (const SlotSpec& slot : R::slots) info.slots.push_back(slot.name);
    for (const TensorSpec& tensor : R::tensors(AttentionShape{}))
        if (tensor.captured) info.slots.push_back(tensor.name);
    return info;
}

template <class R>
Rung rung_of() {
    return {.id = R::id,
            .as_tiled = [](AttentionShape p) { return R::as_tiled(p); },
            .tensors = R::tensors,
            .slots = {R::slots.begin(), R::slots.end()},
            .launches = R::launches,
            .shared_bytes = R::shared_bytes,
            .blocks = R::blocks,
            .launch_on_host = launch_rung<R, simt::Executor>,
            .bytes = R::bytes};
}

}  // namespace flashstep::gpu
