// The presets.
#include "lab/presets.h"

#include <array>

#include "core/error.h"
#include "lab/edit.h"

namespace flashstep {
namespace {

// Small round numbers, scale 1. In query block 1 at j = 2 row 1 keeps its maximum (2, then scores 1 and -1) and row 2
// raises it (from 1 to 2); in query block 2 it is the other way round: row 3 keeps 3, row 4 rises from 1 to 3.
Inputs n4d3_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);  // dO stays random: no forward step reads it
    in.Q[0] << 1, 0, 1, 0, 1, 1, 2, 0, 1, 0, 2, 1;
    in.K[0] << 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, -1;
    in.V[0] << 1, 2, 0, 0, 1, 1, 2, 0, 1, 1, 1, 3;
    return in;
}

Problem n4d3_problem() {
    Problem p;
    p.scale = 1;
    return p;
}

// Multiples of log 2 in Q make every weight a half, a quarter or an eighth, and with whole numbers in V and dO every
// number of the backward pass but dK has few digits. D is 4, 2, -2 and 3.
Inputs n4d3_halves_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0] << 1, 0, -1, -1, -1, 1, -1, 0, -2, -1, 1, -1;
    in.Q[0] = (std::numbers::ln2 * in.Q[0].array()).cast<float>().cast<double>() + 0.0;  // no -0
    in.K[0] << 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1;
    in.V[0] << 2, 0, 4, 0, 0, 2, 4, 2, 0, 4, 4, 0;
    in.dO[0] << 2, 0, 0, 0, 1, 0, 0, 0, -1, 1, 1, 0;
    return in;
}

Problem n64_problem(bool causal) {
    Problem p;
    p.n = p.nk = 64, p.d = p.dv = 16, p.br = p.bc = 16;
    p.scale = 0.25;
    p.causal = causal;
    return p;
}

// Scores of a hundred and more: e^score overflows unless the maximum is subtracted first.
Inputs extreme_inputs(const Problem& problem) {
    Inputs in = n4d3_inputs(problem);
    in.Q[0] *= 50;
    return in;
}

// All scores -1, all values 1: a key too many in the last block shows at once (the right output is 1).
Inputs tail_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0].setConstant(1), in.K[0].setConstant(-1), in.V[0].setConstant(1);
    return in;
}

Problem tail_problem() {
    Problem p;
    p.n = p.nk = 3, p.d = p.dv = 1, p.scale = 1;
    return p;
}

// Every score is 0 and row c of V holds c: l counts the keys that a query sees, and O is the mean of their numbers.
Inputs counting_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0].setConstant(1), in.K[0].setZero();
    for (int c = 0; c < problem.nk; ++c) in.V[0].row(c).setConstant(c + 1);
    return in;
}

// The queries are the last four of six tokens, causal: query r sees the keys up to r + 2.
Problem last_queries_problem() {
    Problem p;
    p.nk = 6, p.d = p.dv = 1, p.scale = 1, p.causal = true;
    return p;
}

// Five queries, two keys, causal: rows 1 to 3 see no key.
Problem masked_rows_problem() {
    Problem p;
    p.n = 5, p.nk = 2, p.causal = true;
    return p;
}

// The first tile is hidden by a key-padding mask, the second holds scores of -200 and -201.
Problem hidden_first_tile_problem() {
    Problem p;
    p.n = 2, p.d = p.dv = 1, p.scale = 1, p.mask = MaskShape::Keys;
    return p;
}

Inputs hidden_first_tile_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0].setConstant(1);
    in.K[0] << 0, 0, -200, -201;
    in.V[0] << 5, 5, 1, 0;
    in.mask << -kInf, -kInf, 0, 0;
    return in;
}

// Query 1 has products of 65,536 with keys 1 and 2, more than half precision holds; tau makes 32,768 of them.
Problem large_products_problem() {
    Problem p;
    p.n = 2, p.d = p.dv = 4, p.scale = 0.5;
    return p;
}

Inputs large_products_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0].setConstant(1), in.K[0].setZero();
    in.Q[0].row(0).setConstant(128), in.K[0].topRows(2).setConstant(128);
    for (int c = 0; c < problem.nk; ++c) in.V[0].row(c).setConstant(c + 1);
    return in;
}

// One row block and two key blocks for four warps: two rows, or one key, for each of them.
Problem warps_problem() {
    Problem p;
    p.n = p.nk = 8, p.d = p.dv = 4, p.br = 8, p.bc = 4;
    p.scale = 0.5;
    return p;
}

// Whole numbers from -2 to 2.
Inputs warps_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    for (auto member : {&Inputs::Q, &Inputs::K, &Inputs::V})
        for (Matrix& values : in.*member) values = (2 * values.array()).round() + 0.0;  // no -0
    return in;
}

// One warp's 16 x 16 scores, each of which is the number of the lane that holds it as a result of tensor cores: lane
// 4 g + t holds rows g and g + 8, columns 2 t, 2 t + 1 of either half. V adds the two halves of the weights.
Problem lanes_problem() {
    Problem p;
    p.n = p.nk = 16, p.d = 2, p.dv = 8, p.br = p.bc = 64;
    p.scale = 1;
    p.dtype = DType::Fp16;
    return p;
}

Inputs lanes_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    for (int r = 0; r < 16; ++r) {
        in.Q[0].row(r) << 4 * (r % 8), 1;
        in.K[0].row(r) << 1, r % 8 / 2;
        in.V[0].row(r).setZero();
        in.V[0](r, r % 8) = 1;
    }
    return in;
}

// One query that is 1, so that the score of a key is the key.
Problem one_row_problem() {
    Problem p;
    p.n = p.br = 1, p.d = p.dv = 1, p.scale = 1;
    return p;
}

// The second score leaves the maximum where it is, the third raises it by 2, the fourth leaves it again.
Inputs one_row_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0] << 1;
    in.K[0] << 2, 1, 4, 3;
    in.V[0] << 1, 2, 3, 4;
    return in;
}

// Three blocks of two keys: the second raises the maximum from 2 to 4, the third, with 3, does not reach it.
Problem one_query_problem() {
    Problem p = one_row_problem();
    p.nk = 6, p.dv = 2;
    return p;
}

Inputs one_query_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0] << 1;
    in.K[0] << 2, 1, 4, 3, 3, 2;
    in.V[0] << 1, 0, 0, 1, 1, 1, 2, 0, 0, 2, 2, 1;
    return in;
}

// Row r of the scores is column r of K. Row 1: one power that fp32 cannot hold; row 2: each fits, their sum does not.
Problem overflow_problem() {
    Problem p;
    p.n = 2, p.d = 2, p.dv = 1, p.scale = 1;
    return p;
}

Inputs overflow_inputs(const Problem& problem) {
    Inputs in = make_inputs(problem);
    in.Q[0] << 1, 0, 0, 1;
    in.K[0] << -1, 88, 1, 88, 89, 88, 3, 86;
    in.V[0] << 1, 2, 3, 4;
    return in;
}

}  // namespace

std::span<const Preset> presets() {
    static const std::array table = {
        Preset{"n4d3",
               {"N=4, d=3: the first walk-through", "N=4，d=3：第一次逐步演示"},
               "fa2_forward",
               "fa2_forward_1_tile",
               n4d3_problem(),
               n4d3_inputs},
        Preset{"n64",
               {"N=64, d=16 in 4 x 4 tiles", "N=64，d=16，4 × 4 个 tile"},
               "fa2_forward",
               "fa2_forward_1_tile",
               n64_problem(false),
               make_inputs},
        Preset{"n64_causal",
               {"causal: six tiles skipped", "因果掩码：跳过六个 tile"},
               "fa2_forward",
               "fa2_forward_1_tile",
               n64_problem(true),
               make_inputs},
        Preset{"last_queries",
               {"causal: the last four of six tokens", "因果掩码：六个 token 中的后四个"},
               "fa2_forward",
               "fa2_forward_1_tile",
               last_queries_problem(),
               counting_inputs},
        Preset{"n4d3_backward",
               {"N=4, d=3: the backward pass", "N=4，d=3：反向传播"},
               "fa2_backward",
               "fa2_backward_2_atomic",
               n4d3_problem(),
               n4d3_inputs},
        Preset{"n4d3_halves",
               {"backward with weights 1/2, 1/4, 1/8", "反向传播，权重是 1/2、1/4、1/8"},
               "fa2_backward",
               "fa2_backward_2_atomic",
               n4d3_problem(),
               n4d3_halves_inputs},
        Preset{"n64_backward",
               {"N=64, d=16: the backward pass", "N=64，d=16：反向传播"},
               "fa2_backward",
               "fa2_backward_2_atomic",
               n64_problem(false),
               make_inputs},
        Preset{"extreme",
               {"scores of 100 and more", "分数达到一百以上"},
               "fa2_forward",
               "fa2_forward_1_tile",
               n4d3_problem(),
               extreme_inputs},
        Preset{"tail",
               {"three keys in blocks of two", "三个 key，每块放两个"},
               "fa2_forward",
               "fa2_forward_1_tile",
               tail_problem(),
               tail_inputs},
        Preset{"masked_rows",
               {"three rows see nothing", "有三行看不到任何 key"},
               "fa2_forward",
               "fa2_forward_1_tile",
               masked_rows_problem(),
               counting_inputs},
        Preset{"hidden_first_tile",
               {"a mask hides the first tile", "掩码遮住第一个 tile"},
               "fa2_forward",
               "fa2_forward_1_tile",
               hidden_first_tile_problem(),
               hidden_first_tile_inputs},
        Preset{"large_products",
               {"products of 65,536", "达到 65,536 的乘积"},
               "fa2_forward",
               "fa2_forward_1_tile",
               large_products_problem(),
               large_products_inputs},
        Preset{"warps_split_k",
               {"four warps split K: they exchange", "四个 warp 切分 K：需要交换数据"},
               "warps_split_k",
               "",
               warps_problem(),
               warps_inputs},
        Preset{"warps_split_q",
               {"four warps split Q: no exchange", "四个 warp 切分 Q：无需交换"},
               "warps_split_q",
               "",
               warps_problem(),
               warps_inputs},
        Preset{"lanes",
               {"each score is the lane that holds it", "每个分数就是持有它的 lane 的编号"},
               "fa2_forward",
               "fa2_forward_3_mma",
               lanes_problem(),
               lanes_inputs},
        Preset{"one_row",
               {"one row of four scores", "一行四个分数"},
               "online_softmax",
               "",
               one_row_problem(),
               one_row_inputs},
        Preset{"one_query",
               {"one query, three blocks of two keys", "一个 query，三块 key，每块两个"},
               "online_softmax_blocks",
               "",
               one_query_problem(),
               one_query_inputs},
        Preset{"overflow",
               {"two rows that overflow", "两行会溢出的分数"},
               "naive_softmax",
               "",
               overflow_problem(),
               overflow_inputs},
    };
    return table;
}

const Preset* find_preset(std::string_view id) {
    for (const Preset& preset : presets())
        if (preset.id == id) return &preset;
    return nullptr;
}

Inputs preset_inputs(const Preset& preset, const Problem& problem) {
    Inputs in = make_inputs(problem);
    const Inputs own = preset.inputs(preset.problem);
    for (auto member : {&Inputs::Q, &Inputs::K, &Inputs::V, &Inputs::dO, &Inputs::X}) {
        const std::vector<Matrix>&from = own.*member, &to = in.*member;
        if (from.empty() || from.size() != to.size()) continue;
        if (from[0].rows() == to[0].rows() && from[0].cols() == to[0].cols()) in.*member = from;
    }
    if (own.mask.rows() == in.mask.rows() && own.mask.cols() == in.mask.cols()) in.mask = own.mask;
    return in;
}

Recipe recipe_of(const Preset& preset, const Instead& instead) {
    Recipe recipe;
    recipe.algorithm = preset.algorithm, recipe.kernel = preset.kernel;
    recipe.problem = preset.problem, recipe.inputs = preset.inputs(preset.problem);
    if (!instead.algorithm.empty()) {
        const Algorithm* algorithm = find_algorithm(instead.algorithm);
        if (!algorithm) throw Error("there is no algorithm called " + std::string(instead.algorithm));
        recipe = with_algorithm(std::move(recipe), *algorithm);
    }
    if (!instead.kernel.empty()) {
        const gpu::KernelInfo* kernel = gpu::find_kernel(instead.kernel);
        if (!kernel && instead.kernel != "none")
            throw Error("there is no kernel called " + std::string(instead.kernel));
        if (kernel && !instead.algorithm.empty() && kernel->algorithm != instead.algorithm)
            throw Error(std::string(kernel->id) + " mirrors " + std::string(kernel->algorithm) + ", not " +
                        std::string(instead.algorithm));
        recipe = with_kernel(std::move(recipe), kernel);
    }
    if (!instead.fault.empty()) {
        const Fault* fault = find_fault(instead.fault);
        if (!fault) throw Error("there is no mistake called " + std::string(instead.fault));
        if (!(instead.algorithm.empty() && instead.kernel.empty()) && fault->algorithm != recipe.algorithm)
            throw Error(std::string(fault->id) + " is a mistake of " + std::string(fault->algorithm) + ", not of " +
                        recipe.algorithm);
        recipe = with_fault(std::move(recipe), fault);
    }
    return recipe;
}

}  // namespace flashstep
