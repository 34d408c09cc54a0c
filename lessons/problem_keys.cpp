// Sizes from keys.
#include "lessons/problem_keys.h"

#include <cmath>

namespace flashstep {

void take_problem(Keys& keys, Problem& p) {
    if (keys.has("n")) p.n = p.nk = keys.count_or("n", p.n);
    p.nk = keys.count_or("nk", p.nk);
    if (keys.has("d")) p.d = p.dv = keys.count_or("d", p.d), p.scale = 1 / std::sqrt(p.d);
    p.dv = keys.count_or("dv", p.dv);
    if (keys.has("scale")) p.scale = keys.number("scale");
    p.br = keys.count_or("br", p.br), p.bc = keys.count_or("bc", p.bc);
    p.causal = keys.flag_or("causal", p.causal);
    p.batch = keys.count_or("batch", p.batch);
    if (keys.has("heads")) p.heads = p.kv_heads = keys.count_or("heads", p.heads);
    p.kv_heads = keys.count_or("kv_heads", p.kv_heads);
    p.base2 = keys.flag_or("base2", p.base2);
    if (keys.has("seed")) p.seed = static_cast<std::uint64_t>(keys.whole("seed", 0, INT64_MAX));
    if (keys.has("sram_bytes")) p.sram_bytes = keys.whole("sram_bytes", 0, INT64_MAX);
    if (keys.has("dtype")) {
        const auto dtype = dtype_from_name(keys.text("dtype"));
        if (!dtype) keys.fail("dtype", "exact, fp32, fp16 or bf16");
        p.dtype = *dtype;
    }
}

}  // namespace flashstep
