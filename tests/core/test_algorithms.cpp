// Every algorithm of the registry: values against plain double, Count against Record.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <numbers>
#include <set>

#include "core/algorithms.h"
#include "core/reference.h"

using namespace flashstep;

namespace {

Problem shape(int n, int nk, int d, int dv, int br, int bc, bool causal = false) {
    Problem p;
    p.n = n, p.nk = nk, p.d = d, p.dv = dv, p.br = br, p.bc = bc, p.causal = causal;
    p.scale = 1 / std::sqrt(d);
    return p;
}

std::vector<Problem> shapes() {
    std::vector<Problem> all = {
        shape(4, 4, 3, 3, 2, 2),       shape(1, 1, 1, 1, 2, 2),       shape(1, 1, 3, 2, 1, 1),
        shape(7, 7, 5, 5, 3, 2),       shape(5, 9, 4, 6, 2, 4),       shape(9, 5, 4, 3, 4, 3),
        shape(3, 3, 2, 2, 8, 8),       shape(8, 8, 4, 4, 2, 2, true), shape(2, 5, 3, 3, 2, 2, true),
        shape(5, 2, 3, 3, 2, 2, true), shape(7, 7, 3, 3, 2, 3, true), shape(13, 11, 6, 2, 5, 4, true),
        shape(1, 6, 3, 3, 2, 2, true), shape(6, 1, 3, 3, 4, 2, true),
    };
    for (Problem p : {shape(6, 5, 3, 2, 2, 2), shape(5, 7, 2, 3, 3, 2, true)}) {
        p.batch = 2, p.heads = 4, p.kv_heads = 2, p.seed = 7;
        all.push_back(p);
    }
    for (MaskShape mask : {MaskShape::Keys, MaskShape::Scores})
        for (Problem p : {shape(5, 7, 3, 2, 2, 3), shape(6, 6, 3, 3, 4, 2, true)}) {
            p.mask = mask;
            p.heads = 2;
            all.push_back(p);
        }
    return all;
}

// make_inputs with a mask that hides keys, whole tiles and a whole row, and shifts the other scores.
Inputs masked_inputs(const Problem& p) {
    Inputs in = make_inputs(p);
    for (Eigen::Index r = 0; r < in.mask.rows(); ++r)
        for (Eigen::Index c = 0; c < in.mask.cols(); ++c)
            in.mask(r, c) =
                c < 3 || (r == 1 && in.mask.rows() > 1) ? -kInf : 0.25 * static_cast<double>((r + 2 * c) % 5);
    return in;
}

std::string describe(const Problem& p) {
    return fmt::format("n {} nk {} d {} dv {} br {} bc {} causal {} mask {} batch {} heads {} kv {} {}", p.n, p.nk, p.d,
                       p.dv, p.br, p.bc, p.causal, static_cast<int>(p.mask), p.batch, p.heads, p.kv_heads,
                       name(p.dtype));
}

// Largest difference over elements; equal infinities count as 0, a NaN or an infinity on one side as infinite.
double difference(const Matrix& a, const Matrix& b) {
    REQUIRE(a.rows() == b.rows());
    REQUIRE(a.cols() == b.cols());
    double worst = 0;
    for (Eigen::Index k = 0; k < a.size(); ++k) {
        const double x = a.data()[k], y = b.data()[k];
        if (x == y) continue;
        worst = std::isfinite(x) && std::isfinite(y) ? std::max(worst, std::abs(x - y)) : kInf;
    }
    return worst;
}

Matrix final_matrix(const Trace& trace, std::string_view name, int head) {
    const int tensor = trace.find(name, Space::Hbm);
    REQUIRE(tensor >= 0);
    const Trace::View view = trace.matrix_at(tensor, trace.last_step(), head);
    REQUIRE(view.written.all());
    return view.values;
}

// The sum of the gradients of the query heads that share K and V with `head`.
Matrix group_sum(const Problem& p, const Inputs& in, int head, Matrix Gradients::*which) {
    Matrix sum;
    for (int other = 0; other < p.total_heads(); ++other) {
        if (p.kv_index(other) != p.kv_index(head)) continue;
        const Matrix part = reference_gradients(p, in, other).*which;
        sum = sum.size() ? Matrix(sum + part) : part;
    }
    return sum;
}

void check_against_reference(const Algorithm& algorithm, const Problem& p, const Inputs& in, double bound) {
    const Trace trace = record(algorithm, p, in);
    for (int head = 0; head < p.total_heads(); ++head) {
        const Reference ref = reference(p, in, head);
        const Gradients g = reference_gradients(p, in, head);
        const Matrix P = in.X.empty() ? ref.P : softmax_rows(in.X[head]);
        const Matrix dK = group_sum(p, in, head, &Gradients::dK), dV = group_sum(p, in, head, &Gradients::dV);
        int compared = 0;
        for (const auto& [name, expected] : {std::pair{"O", &ref.O},
                                             {"L", &ref.L},
                                             {"S", &ref.S},
                                             {"P", &P},
                                             {"m", &ref.m},
                                             {"l", &ref.l},
                                             {"D", &g.D},
                                             {"dS", &g.dS},
                                             {"dQ", &g.dQ},
                                             {"dK", &dK},
                                             {"dV", &dV}}) {
            const std::string matrix = name;  // clang 14 captures no structured binding
            const int tensor = trace.find(matrix, Space::Hbm);
            if (tensor < 0) continue;
            compared += trace.tensors[tensor].role == Role::Output;
            CHECK_MESSAGE(difference(final_matrix(trace, matrix, head), *expected) <= bound,
                          algorithm.id << " " << matrix << " " << describe(p));
        }
        CHECK(compared > 0);
    }
}

}  // namespace

TEST_CASE("every algorithm's file is a row of the table, under its own name") {
    std::set<std::string> files, ids;
    for (const auto& entry : std::filesystem::directory_iterator(FLASHSTEP_SOURCE_DIR "/core/algorithms"))
        if (entry.path().extension() == ".cpp") files.insert(entry.path().stem().string());
    for (const Algorithm& algorithm : algorithms()) ids.emplace(algorithm.id);
    CHECK(files == ids);
    CHECK(ids.size() == algorithms().size());
}

TEST_CASE("an algorithm is measured by the plain one that reads and leaves the same; one line of a pass by none") {
    const Problem p;
    for (const Algorithm& algorithm : algorithms()) {
        CAPTURE(algorithm.id);
        const Algorithm* yardstick = yardstick_of(algorithm);
        CHECK((yardstick == nullptr) == (algorithm.id == "softmax_backward"));
        if (!yardstick) continue;
        CHECK(yardstick_of(*yardstick) == yardstick);
        CHECK(yardstick->reads_scores == algorithm.reads_scores);
        CHECK(yardstick->forward.empty() == algorithm.forward.empty());
        CHECK(count(*yardstick, p).memory.outputs == count(algorithm, p).memory.outputs);
    }
    CHECK(yardstick_of(*find_algorithm("fa2_backward"))->id == "standard_backward");
    CHECK(yardstick_of(*find_algorithm("online_softmax"))->id == "safe_softmax");
}

TEST_CASE("every algorithm agrees with plain double on ragged, tiny, causal and grouped shapes") {
    for (const Algorithm& algorithm : algorithms())
        for (Problem p : shapes()) {
            p.dtype = DType::Exact;
            check_against_reference(algorithm, p, masked_inputs(p), 1e-14);
            p.base2 = true;
            check_against_reference(algorithm, p, masked_inputs(p), 1e-14);
            p.dtype = DType::Fp32;
            check_against_reference(algorithm, p, masked_inputs(p), 2e-6);
            p.base2 = false;
            check_against_reference(algorithm, p, masked_inputs(p), 2e-6);
        }
}

TEST_CASE("every algorithm but the naive softmax stays right with extreme scores") {
    for (const Algorithm& algorithm : algorithms()) {
        if (algorithm.id == "naive_softmax") continue;
        Problem p = shape(7, 9, 4, 4, 3, 2);
        p.dtype = DType::Exact;
        Inputs in = make_inputs(p);
        in.Q[0] *= 300, in.K[0] *= 300;  // scores up to +-180,000: e^x would overflow
        check_against_reference(algorithm, p, in, 1e-9);
        in.Q[0] *= 1e-8;
        check_against_reference(algorithm, p, in, 1e-11);
    }
}

TEST_CASE("the naive softmax overflows where the safe one does not") {
    Problem p = shape(1, 3, 1, 1, 1, 1);
    Inputs in = make_inputs(p);
    in.X.push_back(Matrix(1, 3));
    in.X[0] << 800, 1, 2;
    CHECK(final_matrix(record(*find_algorithm("naive_softmax"), p, in), "P", 0).hasNaN());
    CHECK(final_matrix(record(*find_algorithm("safe_softmax"), p, in), "P", 0)(0, 0) == 1);
}

TEST_CASE("vector B: the backward pass of two rows, the scale carried once") {
    Problem p = shape(2, 2, 2, 2, 1, 1);
    p.dtype = DType::Exact;
    Inputs in = make_inputs(p);
    in.Q[0] << 1, 0, 0, 1;
    in.K[0] << 1, 1, 0, 2;
    in.V[0] << 1, 2, 3, 4;
    in.dO[0] << 1, 0, 0, 1;
    Matrix D(2, 1), dQ(2, 2), dK(2, 2), dV(2, 2);
    D << 1.660477, 3.339523;
    dQ << -.312797, .312797, -.312797, .312797;
    dK << -.312797, -.312797, .312797, .312797;
    dV << .669762, .330238, .330238, .669762;
    for (const char* id : {"standard_backward", "fa1_backward", "fa2_backward", "fa2_backward_two_pass"}) {
        const Trace trace = record(*find_algorithm(id), p, in);
        CHECK(difference(final_matrix(trace, "dQ", 0), dQ) < 1e-6);
        CHECK(difference(final_matrix(trace, "dK", 0), dK) < 1e-6);
        CHECK(difference(final_matrix(trace, "dV", 0), dV) < 1e-6);
        if (trace.find("D", Space::Hbm) >= 0) CHECK(difference(final_matrix(trace, "D", 0), D) < 1e-6);
    }
}

TEST_CASE("gradients agree with central differences in double to 1e-7, at n4d3 and beyond") {
    for (bool causal : {false, true})
        for (Problem p :
             {shape(4, 4, 3, 3, 2, 2, causal), shape(5, 7, 2, 3, 2, 3, causal), shape(6, 4, 3, 2, 4, 4, causal)}) {
            p.dtype = DType::Exact;
            Inputs in = make_inputs(p);
            const auto loss = [&] { return reference(p, in, 0).O.cwiseProduct(in.dO[0]).sum(); };
            const auto numeric = [&](Matrix& values) {
                Matrix gradient(values.rows(), values.cols());
                constexpr double kStep = 1e-5;
                for (Eigen::Index k = 0; k < values.size(); ++k) {
                    const double kept = values.data()[k];
                    values.data()[k] = kept + kStep;
                    const double above = loss();
                    values.data()[k] = kept - kStep;
                    gradient.data()[k] = (above - loss()) / (2 * kStep);
                    values.data()[k] = kept;
                }
                return gradient;
            };
            const Matrix dQ = numeric(in.Q[0]), dK = numeric(in.K[0]), dV = numeric(in.V[0]);
            for (const char* id : {"standard_backward", "fa1_backward", "fa2_backward", "fa2_backward_two_pass"}) {
                INFO(id << " " << describe(p));
                const Trace trace = record(*find_algorithm(id), p, in);
                CHECK(difference(final_matrix(trace, "dQ", 0), dQ) < 1e-7);
                CHECK(difference(final_matrix(trace, "dK", 0), dK) < 1e-7);
                CHECK(difference(final_matrix(trace, "dV", 0), dV) < 1e-7);
            }
        }
}

TEST_CASE("the two forms of D, and the Jacobian and its short form, are the same") {
    Problem p = shape(3, 4, 2, 3, 1, 1);
    p.dtype = DType::Exact;
    const Trace trace = record(*find_algorithm("softmax_backward"), p, make_inputs(p));
    const auto tile = [&](const char* name, int step) {
        return trace.value(trace.versions[trace.tile_at(trace.find(name, Space::Sram), step)]);
    };
    int rows = 0;
    for (int s = 1; s <= trace.last_step(); ++s) {
        if (trace.steps[s].line != 8) continue;
        ++rows;
        CHECK(tile("D_P", s)(0, 0) == doctest::Approx(tile("D_i", s)(0, 0)).epsilon(1e-13));
        CHECK((tile("dS_J", s) - tile("dS_i", s)).cwiseAbs().maxCoeff() < 1e-15);
    }
    CHECK(rows == 3);
}

TEST_CASE("the result does not depend on the blocks") {
    Problem p = shape(11, 13, 4, 4, 1, 1);
    p.dtype = DType::Exact;
    const Inputs in = make_inputs(p);
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    const Matrix first = final_matrix(record(fa2, p, in), "O", 0);
    for (const auto& [br, bc] : {std::pair{1, 13}, {11, 1}, {4, 5}, {64, 64}, {2, 3}}) {
        p.br = br, p.bc = bc;
        CHECK(difference(final_matrix(record(fa2, p, in), "O", 0), first) <= 1e-14);
    }
}

TEST_CASE("Count equals Record for every algorithm and shape") {
    for (const Algorithm& algorithm : algorithms())
        for (Problem p : shapes())
            for (DType dtype : {DType::Exact, DType::Fp32, DType::Fp16, DType::Bf16}) {
                p.dtype = dtype;
                p.base2 = dtype == DType::Fp16;
                INFO(algorithm.id << " " << describe(p));
                const Counts counted = count(algorithm, p), recorded = counts_of(record(algorithm, p, make_inputs(p)));
                CHECK(counted.traffic == recorded.traffic);
                CHECK(counted.hbm == recorded.hbm);
                CHECK(counted.sram_peak == recorded.sram_peak);
                CHECK(counted.memory == recorded.memory);
                CHECK(counted.steps == recorded.steps);
                CHECK(counted.stored_values == recorded.stored_values);
            }
}

TEST_CASE(
    "four warps: splitting Q moves fewer SRAM bytes and takes fewer barriers than splitting K; HBM bytes are equal") {
    const Problem p = shape(1024, 1024, 64, 64, 64, 64);
    const Counts k = count(*find_algorithm("warps_split_k"), p), q = count(*find_algorithm("warps_split_q"), p);
    CHECK(k.hbm == q.hbm);
    CHECK(k.traffic.flops_matmul == q.traffic.flops_matmul);
    // Per tile: both bring K_j and V_j (8,192 elements). Split-K reads Q_i four times and K_j, V_j once, and passes 4
    // O_w on; split-Q reads K_j, V_j four times.
    const std::int64_t tiles = 16 * 16, rows = 64;
    CHECK(k.traffic.sram_write + k.traffic.sram_read ==
          4 * (1024 * 64 + tiles * (2 * 8192 + 4 * 4096 + 2 * 4 * 4096 + 4 * rows * (2 + 4))));
    CHECK(q.traffic.sram_write + q.traffic.sram_read == 4 * (2 * 1024 * 64 + tiles * (8192 + 4 * 8192)));
    CHECK(k.traffic.barriers == 3 * tiles);
    CHECK(q.traffic.barriers == 2 * tiles + 16);
    CHECK(k.traffic.flops_exp > q.traffic.flops_exp);
    CHECK(k.sram_peak - q.sram_peak == 4 * 4 * rows * (64 + 2));  // the partial results
}

TEST_CASE("base-2 exponentials: the state is in base 2, L is natural, and algorithms without them ignore the wish") {
    Problem p = shape(4, 4, 3, 3, 2, 2);
    p.dtype = DType::Exact;
    const Inputs in = make_inputs(p);
    const Trace natural = record(*find_algorithm("fa2_forward"), p, in);
    p.base2 = true;
    const Trace base2 = record(*find_algorithm("fa2_forward"), p, in);
    const auto tile = [](const Trace& trace, const char* name) {
        const int tensor = trace.find(name, Space::Sram);
        int last = -1;
        for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v)
            if (trace.versions[v].tensor == tensor) last = v;
        return Matrix(trace.value(trace.versions[last]));
    };
    CHECK(difference(tile(base2, "S_ij"), tile(natural, "S_ij") * std::numbers::log2e) < 1e-14);
    CHECK(difference(tile(base2, "m_i"), tile(natural, "m_i") * std::numbers::log2e) < 1e-14);
    CHECK(difference(tile(base2, "P_ij"), tile(natural, "P_ij")) < 1e-14);
    CHECK(difference(tile(base2, "l_i"), tile(natural, "l_i")) < 1e-14);
    CHECK(difference(final_matrix(base2, "L", 0), final_matrix(natural, "L", 0)) < 1e-14);
    CHECK_FALSE(record(*find_algorithm("fa1_forward"), p, in).problem.base2);
}

TEST_CASE("L from base-2 exponentials is natural: rows with L = 2 and L = 8 merge with weights 0.2 and 0.8") {
    Problem p = shape(1, 2, 1, 1, 1, 1);
    p.dtype = DType::Exact, p.base2 = true, p.scale = 1;
    Inputs in = make_inputs(p);
    in.Q[0] << 1;
    in.K[0] << std::log(2), std::log(8);
    in.V[0] << 0, 1;
    const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
    CHECK(final_matrix(trace, "L", 0)(0, 0) == doctest::Approx(std::log(10)));
    CHECK(final_matrix(trace, "O", 0)(0, 0) == doctest::Approx(0.8));
}

TEST_CASE("vector H: HBM elements of standard attention and FlashAttention-2 per head") {
    struct Row {
        int n, d, br, bc;
        std::int64_t standard, fa1, fa2, causal;
    };
    for (const Row& row : {Row{8, 4, 2, 2, 384, 624, 328, 232},
                           {128, 16, 16, 16, 73'728, 59'648, 36'992, 22'656},
                           {1024, 64, 64, 64, 4'456'448, 3'409'920, 2'229'248, 1'246'208},
                           {1024, 64, 64, 192, 4'456'448, 1'402'880, 2'229'248, 1'369'088}}) {
        Problem p = shape(row.n, row.n, row.d, row.d, row.br, row.bc);
        const auto elements = [&](std::string_view id) {
            const Counts counts = count(*find_algorithm(id), p);
            return (counts.traffic.hbm_read + counts.traffic.hbm_write) / 4;
        };
        CHECK(elements("standard_attention") == row.standard);
        CHECK(elements("fa1_forward") == row.fa1);
        CHECK(elements("fa2_forward") == row.fa2);
        p.causal = true;
        CHECK(elements("fa2_forward") == row.causal);
    }
}

TEST_CASE("vector A: FlashAttention-2 gives the known output, log-sum-exp and running state") {
    Problem p = shape(4, 4, 4, 2, 2, 2);
    p.scale = 0.5, p.dtype = DType::Exact;
    Inputs in = make_inputs(p);
    in.Q[0] << 1, 0, 2, 0, 0, 1, 1, 0, 1, 1, 0, 1, 0, 2, 1, 1;
    in.K[0] << 2, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1, 0, 0, 2, 1;
    in.V[0] << 1, 0, 0, 1, 1, 1, 2, 1;
    const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
    Matrix O(4, 2), L(4, 1);
    O << 1.269873, 0.842940, 1, 0.811230, 1, 0.573067, 1, 0.811230;
    L << 2.851129, 2.167224, 2.351129, 2.667224;
    CHECK(difference(final_matrix(trace, "O", 0), O) < 1e-6);
    CHECK(difference(final_matrix(trace, "L", 0), L) < 1e-6);

    // Row 0 after each of its tiles, at the end of line 10.
    const auto after_tile = [&](int j, std::string_view tile, int col) {
        for (int s = 1; s <= trace.last_step(); ++s) {
            const Step& step = trace.steps[s];
            if (step.line != 10 || step.i != 0 || step.j != j) continue;
            return trace.value(trace.versions[trace.tile_at(trace.find(tile, Space::Sram), s)])(0, col);
        }
        return std::nan("");
    };
    CHECK(after_tile(0, "m_i", 0) == doctest::Approx(1));
    CHECK(after_tile(0, "l_i", 0) == doctest::Approx(2));
    CHECK(after_tile(0, "O_i", 0) == doctest::Approx(1));
    CHECK(after_tile(0, "O_i", 1) == doctest::Approx(1));
    CHECK(after_tile(1, "m_i", 0) == doctest::Approx(2));
    CHECK(after_tile(1, "l_i", 0) == doctest::Approx(2.342290).epsilon(1e-6));
    CHECK(after_tile(1, "O_i", 0) == doctest::Approx(2.974410).epsilon(1e-6));
    CHECK(after_tile(1, "O_i", 1) == doctest::Approx(1.974410).epsilon(1e-6));
}

TEST_CASE("vector D: a causal mask is bottom-right, and a row that sees nothing gives O = 0 and L = -inf") {
    for (const auto& [n, nk] : {std::pair{2, 5}, {5, 2}})
        for (int block : {1, 2, 3, 8}) {
            Problem p = shape(n, nk, 2, 1, block, block, true);
            Inputs in = make_inputs(p);
            in.Q[0].setZero();
            for (int c = 0; c < nk; ++c) in.V[0](c, 0) = c + 1;
            const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
            Matrix O(n, 1), L(n, 1);
            if (n == 2) O << 2.5, 3, L << std::log(4.0), std::log(5.0);
            if (n == 5) O << 0, 0, 0, 1, 1.5, L << -kInf, -kInf, -kInf, 0, 0.693147;
            CHECK(difference(final_matrix(trace, "O", 0), O) < 1e-6);
            CHECK(difference(final_matrix(trace, "L", 0), L) < 1e-6);
        }
}

TEST_CASE("vector F: a ragged tail counts only its own keys") {
    Problem p = shape(3, 3, 1, 1, 2, 2);
    Inputs in = make_inputs(p);
    in.Q[0].setConstant(1), in.K[0].setConstant(-1), in.V[0].setConstant(1);
    CHECK(difference(final_matrix(record(*find_algorithm("fa2_forward"), p, in), "O", 0), Matrix::Constant(3, 1, 1)) <
          1e-7);
}

TEST_CASE("16-bit formats round inputs, P before PV and O, and keep statistics in fp32") {
    for (DType dtype : {DType::Fp16, DType::Bf16}) {
        Problem p = shape(16, 16, 8, 8, 4, 4);
        p.dtype = dtype;
        const Inputs in = make_inputs(p);
        const Trace trace = record(*find_algorithm("fa2_forward"), p, in);
        const Matrix O = final_matrix(trace, "O", 0);
        const double ulp = dtype == DType::Fp16 ? 1.0 / 1024 : 1.0 / 128;
        const double error = difference(O, reference(p, in, 0).O);
        CHECK(error < 2 * ulp);
        CHECK(error > 1e-6);  // something was rounded to 16 bits
        Matrix rounded = O;
        round_all(rounded, dtype);
        CHECK(difference(rounded, O) == 0);
        const Matrix L = final_matrix(trace, "L", 0);
        CHECK(difference(L, reference(p, in, 0).L) < 1e-5);
    }
}

TEST_CASE("NaN in an input reaches the output and nothing else breaks") {
    for (const Algorithm& algorithm : algorithms()) {
        Problem p = shape(5, 6, 3, 3, 2, 2);
        Inputs in = make_inputs(p);
        in.Q[0](3, 1) = std::nan("");
        const Trace trace = record(algorithm, p, in);
        for (const Tensor& tensor : trace.tensors) {
            if (tensor.role != Role::Output || tensor.space != Space::Hbm) continue;
            const Matrix out = final_matrix(trace, tensor.name, 0);
            INFO(algorithm.id << " " << tensor.name);
            CHECK(out.hasNaN());
            if (tensor.per == PerHead::KeyValue) continue;  // every query reaches every key
            CHECK(out.row(3).hasNaN());
            CHECK(!out.row(0).hasNaN());
        }
    }
}

TEST_CASE("pseudo-code lines are covered both ways") {
    for (const Algorithm& algorithm : algorithms()) {
        Problem p = shape(5, 6, 3, 3, 2, 2);
        const Trace trace = record(algorithm, p, make_inputs(p));
        std::set<int> executed, executable;
        for (int s = 1; s <= trace.last_step(); ++s) executed.insert(trace.steps[s].line);
        for (const PseudoLine& line : algorithm.lines)
            if (line.kind != LineKind::Text) executable.insert(line.number);
        CHECK_MESSAGE(executed == executable, algorithm.id);
    }
}

TEST_CASE("an SRAM capacity is checked, and the message names line, numbers and what fits") {
    Problem p = shape(64, 64, 16, 16, 32, 32);
    const Algorithm& fa2 = *find_algorithm("fa2_forward");
    const std::int64_t peak = count(fa2, p).sram_peak;
    p.sram_bytes = peak;
    CHECK(count(fa2, p).sram_peak == peak);
    p.sram_bytes = peak - 1;
    try {
        count(fa2, p);
        FAIL("an overflow has to be refused");
    } catch (const Error& error) {
        CHECK(std::string(error.what()).find(fmt::format("SRAM overflow, {} of {} bytes", peak, peak - 1)) !=
              std::string::npos);
        CHECK(error.hint().find("B_r = B_c = 31") != std::string::npos);
    }
    CHECK(largest_fitting_block(fa2, p) == 31);
    p.sram_bytes = 8;
    CHECK(largest_fitting_block(fa2, p) == 0);
}

TEST_CASE("a large problem is counted without arithmetic") {
    Problem p = shape(16384, 16384, 64, 64, 64, 64);
    const Counts counts = count(*find_algorithm("fa2_forward"), p);
    CHECK(counts.traffic.hbm_read + counts.traffic.hbm_write ==
          4 * (2LL * 16384 * 64 + 16384 + 2LL * 256 * 16384 * 64));
    p.n = p.nk = 1 << 20;
    CHECK(count(*find_algorithm("online_softmax"), p).traffic.hbm_read == 2 * 4 * (1LL << 40));
}

TEST_CASE("a count that would take minutes is refused, but only where there are tiles to visit") {
    const Problem p = shape(65536, 65536, 64, 64, 2, 2);
    CHECK_THROWS_WITH_AS(count(*find_algorithm("fa2_forward"), p), doctest::Contains("1073741824 tiles"), Error);
    CHECK(count(*find_algorithm("standard_attention"), p).traffic.hbm_read ==
          4 * (3 * 65536LL * 64 + 2 * 65536LL * 65536));
}

TEST_CASE("a recording that would not fit in memory is refused before it starts") {
    Problem p = shape(20000, 20000, 1, 1, 64, 64);
    CHECK_THROWS_WITH_AS(record(*find_algorithm("standard_attention"), p, make_inputs(p)),
                         doctest::Contains("the limit is"), Error);
}

TEST_CASE("the papers' block rule") {
    CHECK(paper_blocks(12288, 64).bc == 48);  // vector G
    CHECK(paper_blocks(12288, 64).br == 48);
    CHECK(paper_blocks(83456, 128).bc == 163);
    CHECK(paper_blocks(83456, 128).br == 128);
    CHECK(paper_blocks(1, 64).bc == 1);
}

TEST_CASE("the closed forms of the papers in elements: N d and N terms of every pass") {
    for (const auto& [n, d, b, c] : {std::tuple{64, 8, 16, 8}, {96, 16, 32, 16}, {128, 32, 32, 64}}) {
        const Problem p = shape(n, n, d, d, b, c);
        const std::int64_t Tr = p.row_blocks(), Tc = p.col_blocks(), Nd = n * d, N = n;
        const auto elements = [&](std::string_view id) {
            const Counts counts = count(*find_algorithm(id), p);
            return (counts.traffic.hbm_read + counts.traffic.hbm_write) / 4;
        };
        const auto init = [&](std::string_view id) { return count(*find_algorithm(id), p).traffic.hbm_init / 4; };
        CHECK(elements("fa1_forward") == (3 + 3 * Tc) * Nd + (2 + 4 * Tc) * N);
        CHECK(init("fa1_forward") == Nd + 2 * N);
        CHECK(elements("fa1_backward") == 7 * Nd + Tc * (5 * Nd + 2 * N));
        CHECK(init("fa1_backward") == 3 * Nd);
        CHECK(elements("fa2_forward") == 2 * Nd + N + 2 * Tr * Nd);
        CHECK(elements("fa2_backward") == (7 + 4 * Tc) * Nd + (1 + 2 * Tc) * N);
        CHECK(init("fa2_backward") == Nd);
        CHECK(elements("fa2_backward_two_pass") == (9 + 2 * Tr + 2 * Tc) * Nd + (3 + 2 * Tc) * N);
        CHECK(elements("standard_attention") == 4 * Nd + 4 * N * N);
        CHECK(elements("standard_backward") == 8 * Nd + 7 * N * N);
    }
}

TEST_CASE("two passes take 7 matmuls where Algorithm 2 takes 5") {
    const Problem p = shape(64, 64, 16, 16, 16, 16);
    const std::int64_t one = 2LL * 64 * 64 * 16;
    CHECK(count(*find_algorithm("fa2_backward"), p).traffic.flops_matmul == 5 * one);
    CHECK(count(*find_algorithm("fa2_backward_two_pass"), p).traffic.flops_matmul == 7 * one);
}

namespace {

// Gigabytes of the FlashAttention paper's figure 2: N = 1024, d = 64, 16 heads, batch 64, fp16 matrices.
Problem figure_2(int bc) {
    Problem p = shape(1024, 1024, 64, 64, 64, bc);
    p.batch = 64, p.heads = p.kv_heads = 16, p.dtype = DType::Fp16;
    return p;
}

double gigabytes(const Counts& c) { return static_cast<double>(c.traffic.hbm_read + c.traffic.hbm_write) * 1e-9; }

}  // namespace

TEST_CASE("figure 2 left, standard: 25.233 GB by Algorithms 0 and 3") {
    const Problem p = figure_2(384);
    CHECK(gigabytes(count(*find_algorithm("standard_attention"), p)) +
              gigabytes(count(*find_algorithm("standard_backward"), p)) ==
          doctest::Approx(25.233).epsilon(2e-5));
}

TEST_CASE(
    "figure 2 left, FlashAttention at B_c = 384: 4.647 GB with all initialisation, 4.379 without that of dK and dV, "
    "4.102 with none") {
    const Counts forward = count(*find_algorithm("fa1_forward"), figure_2(384)),
                 backward = count(*find_algorithm("fa1_backward"), figure_2(384));
    const double all = gigabytes(forward) + gigabytes(backward);
    const auto init = [](const Counts& c, const char* name) { return static_cast<double>(c.hbm.at(name).init) * 1e-9; };
    CHECK(all == doctest::Approx(4.647).epsilon(2e-4));
    CHECK(all - init(backward, "dK") - init(backward, "dV") == doctest::Approx(4.379).epsilon(2e-4));
    CHECK(all - static_cast<double>(forward.traffic.hbm_init + backward.traffic.hbm_init) * 1e-9 ==
          doctest::Approx(4.102).epsilon(2e-4));
}

TEST_CASE(
    "figure 2 middle, FlashAttention forward without initialisation and statistics: 6.71, 3.49, 1.88, 1.07 GB at B_c = "
    "64, 128, 256, 512") {
    for (const auto& [bc, expected] : {std::pair{64, 6.71}, {128, 3.49}, {256, 1.88}, {512, 1.07}}) {
        const Counts c = count(*find_algorithm("fa1_forward"), figure_2(bc));
        std::int64_t bytes = 0;
        for (const auto& [name, b] : c.hbm)
            if (name != "l" && name != "m") bytes += b.read + b.write - b.init;
        CHECK(static_cast<double>(bytes) * 1e-9 == doctest::Approx(expected).epsilon(4e-3));
    }
}
