// The measured costs of the executor: what they must be relative to each other, on any machine.
#include <doctest/doctest.h>

#include <map>

#include "gpu/executor_costs.h"

namespace flashstep::gpu {

TEST_CASE("Costs are positive, counted, and a product costs more than the exchange of lanes that it contains") {
    for (Checks checks : {Checks::Off, Checks::On}) {
        std::map<std::string, double> by_name;
        for (const ExecutorCost& cost : executor_costs(checks)) {
            CAPTURE(cost.what);
            CHECK(cost.nanoseconds > 0);
            CHECK(cost.counted > 0);
            CHECK(by_name.emplace(cost.what, cost.nanoseconds).second);
        }
        CHECK(by_name.size() == 8);
        CHECK(by_name.at("mma_m16n8k16 fp16, per warp") > by_name.at("sync_warp, per warp"));
        CHECK(by_name.at("sync_warp, per warp") > by_name.at("sync_block, per thread switch"));
    }
}

}  // namespace flashstep::gpu
