// The table of shapes: what it promises to hold, and that tensor-core rungs agree with their mirrors on it.
#include "gpu/check_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "core/algorithms.h"
#include "core/compare.h"
#include "gpu/run.h"

namespace flashstep::gpu {

namespace {

template <class Predicate>
auto shapes_with(Predicate predicate) {
    return std::ranges::count_if(check_table(), predicate);
}

std::map<std::string, std::int64_t> counters_of(const char* id, const Problem& p) {
    const KernelRun run = run_kernel(*find_kernel(id), p, make_inputs(p), {});
    return {run.counters.begin(), run.counters.end()};
}

Problem at_256(const KernelInfo& kernel, int d) {
    Problem p;
    p.n = p.nk = 256, p.d = p.dv = d, p.br = kernel.br, p.bc = kernel.bc, p.scale = 0.125;
    p.dtype = DType::Fp16, p.base2 = kernel.base2;
    return p;
}

}  // namespace

TEST_CASE("The table holds every length, head dimension and kind of shape at least twice") {
    using Shape = CheckShape;
    for (int n : {1, 4, 63, 64, 65, 127, 200, 256}) CHECK(shapes_with([&](const Shape& s) { return s.n == n; }) >= 2);
    for (int d : {3, 40, 64, 80, 128}) CHECK(shapes_with([&](const Shape& s) { return s.d == d; }) >= 2);
    const auto causal = [](const Shape& s) { return s.causal == Shape::Causal::Yes; };
    CHECK(shapes_with([](const Shape& s) { return s.nk != s.n; }) >= 2);
    // A single query sees every key, whatever it is masked with.
    CHECK(shapes_with([&](const Shape& s) { return causal(s) && s.n < s.nk && s.n > 1; }) >= 2);
    CHECK(shapes_with([&](const Shape& s) { return causal(s) && s.n > s.nk; }) >= 2);  // rows that see no key
    CHECK(shapes_with([](const Shape& s) { return s.heads > s.kv_heads; }) >= 2);
    // Where another rule than h / group would read the wrong head of K and V, masked or not, in several tiles or one.
    const auto groups = [](const Shape& s) { return s.heads > s.kv_heads && s.kv_heads > 1; };
    CHECK(shapes_with([&](const Shape& s) { return groups(s) && causal(s) && s.nk > 64; }) >= 1);
    CHECK(shapes_with([&](const Shape& s) { return groups(s) && !causal(s); }) >= 1);
    CHECK(shapes_with(groups) >= 3);
    CHECK(shapes_with([](const Shape& s) { return s.batch > 1; }) >= 1);
    CHECK(shapes_with([](const Shape& s) { return s.scores == Shape::Scores::Extreme; }) >= 2);
    for (MaskShape mask : {MaskShape::Keys, MaskShape::Scores})
        CHECK(shapes_with([&](const Shape& s) { return s.mask == mask; }) >= 2);
}

TEST_CASE("Every tensor-core rung equals its mirror in bf16 too, on the shapes that it can run") {
    for (const KernelInfo& kernel : kernels()) {
        if (kernel.dtypes.front() != DType::Fp16) continue;
        int compared = 0;
        for (const CheckShape& shape : check_table()) {
            if (shape.n > 130 || shape.nk > 130) continue;  // `check all` runs the large ones
            Problem p = problem_of(shape, kernel);
            p.dtype = DType::Bf16;
            try {
                check_runnable(kernel, p);
            } catch (const Error&) { continue; }
            const Inputs in = inputs_of(shape, p);
            const Trace mirror = record(*find_algorithm(kernel.algorithm), p, in);
            const Comparison c = compare(mirror, run_kernel(kernel, p, in, {}), bytes_of(mirror));
            INFO(kernel.id << " n " << p.n << " nk " << p.nk << " d " << p.d << " "
                           << (c.first ? describe(*c.first, p) : ""));
            CHECK(c.verdict == Verdict::Equal);
            CHECK(c.bytes_equal);
            ++compared;
        }
        CHECK(compared >= 10);
    }
}

TEST_CASE("Bank conflicts: eight wavefronts for one before 4_swizzle, none in excess from it on") {
    for (int d : {64, 128}) {
        const auto before = counters_of("fa2_forward_3_mma", at_256(*find_kernel("fa2_forward_3_mma"), d));
        CHECK(before.at("shared wavefronts") > 5 * before.at("shared wavefronts, ideal"));
        for (const char* id :
             {"fa2_forward_4_swizzle", "fa2_forward_5_cp_async", "fa2_forward_6_exp2", "fa2_forward_7_registers"}) {
            CAPTURE(id);
            const auto after = counters_of(id, at_256(*find_kernel(id), d));
            CHECK(after.at("shared wavefronts") == after.at("shared wavefronts, ideal"));
        }
    }
}

TEST_CASE("Q in registers and fragments reused: half the shared bytes of the rung before") {
    const auto before = counters_of("fa2_forward_6_exp2", at_256(*find_kernel("fa2_forward_6_exp2"), 64)),
               after = counters_of("fa2_forward_7_registers", at_256(*find_kernel("fa2_forward_7_registers"), 64));
    CHECK(after.at("mma instructions") == before.at("mma instructions"));
    CHECK(2 * after.at("shared bytes read") < before.at("shared bytes read"));
}

TEST_CASE("Tensor-core rungs say what they cannot run") {
    const KernelInfo& kernel = *find_kernel("fa2_forward_5_cp_async");
    const auto refusal = [&](const Problem& p) {
        try {
            run_kernel(kernel, p, make_inputs(p), {});
        } catch (const Error& error) { return std::string(error.what()); }
        return std::string();
    };
    Problem p = at_256(kernel, 64);
    CHECK(refusal(p) == "");
    p.dtype = DType::Fp32;
    CHECK(refusal(p) == "fa2_forward_5_cp_async does not run fp32; it runs fp16, bf16");
    p = at_256(kernel, 129);
    CHECK(refusal(p).find("it runs those up to 128") != std::string::npos);
    p = at_256(kernel, 64);
    p.br = 32;
    CHECK(refusal(p).find("has B_r = 64, B_c = 64; the problem asks for 32 and 64") != std::string::npos);
    p = at_256(kernel, 64);
    p.mask = MaskShape::Keys;
    CHECK(refusal(p).find("takes no additive mask") != std::string::npos);
    p = at_256(kernel, 64);
    RunOptions on_75;
    on_75.target = 75;
    CHECK_THROWS_WITH_AS(run_kernel(kernel, p, make_inputs(p), on_75),
                         doctest::Contains("fa2_forward_5_cp_async runs on sm_80"), Error);
    p.dtype = DType::Bf16;
    CHECK_THROWS_WITH_AS(run_kernel(*find_kernel("fa2_forward_4_swizzle"), p, make_inputs(p), on_75),
                         doctest::Contains("bf16"), Error);
}

}  // namespace flashstep::gpu
