// The measured costs of the executor: there is one of each, and it was counted. How large they are is no test's matter.
#include <doctest/doctest.h>

#include <map>

#include "gpu/executor_costs.h"

namespace flashstep::gpu {

TEST_CASE("Each word of the executor has one cost, and it is of something that was counted") {
    for (Checks checks : {Checks::Off, Checks::On}) {
        std::map<std::string, double> by_name;
        for (const ExecutorCost& cost : executor_costs(checks)) {
            CAPTURE(cost.what);
            CHECK(cost.nanoseconds > 0);
            CHECK(cost.counted > 0);
            CHECK(by_name.emplace(cost.what, cost.nanoseconds).second);
        }
        CHECK(by_name.size() == 8);
        CHECK(by_name.contains("sync_block, per thread switch"));
        CHECK(by_name.contains("mma_m16n8k16 fp16, per warp"));
    }
}

}  // namespace flashstep::gpu
