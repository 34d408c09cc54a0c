// How a rung is launched, for the translation units that instantiate it: one for each rung on the executor, and one on
// devices. Read by nvcc too.
#pragma once

#include "gpu/families/any_rung.h"

namespace flashstep::gpu {

template <class Rung, class Machine>
void launch_rung(Machine& machine, const AttentionShape& p, const Probe* probe) {
    if (probe) {
        Rung::launch(machine, p, *probe);
    } else {
        Rung::launch(machine, p, NoProbe{});
    }
}

}  // namespace flashstep::gpu
