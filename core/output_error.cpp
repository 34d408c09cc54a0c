// Unfused attention in 16 bits, beside plain double.
#include "core/output_error.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/reference.h"

namespace flashstep {
namespace {

constexpr std::array<const char*, 4> kOutputs = {"O", "dQ", "dK", "dV"};

struct Outputs {
    std::map<std::string, std::vector<Matrix>> of;  // by tensor and copy
};

Matrix rounded(Matrix values, DType format) {
    round_all(values, format);
    return values;
}

// The matrices that the trace started from.
Inputs inputs_of(const Trace& trace) {
    Inputs inputs = make_inputs(trace.problem);
    const auto take = [&](const char* name, std::vector<Matrix>& matrices) {
        const int tensor = trace.find(name, Space::Hbm);
        if (tensor < 0) return;
        for (int head = 0; head < trace.problem.total_heads(); ++head)
            matrices[static_cast<std::size_t>(trace.copy_of(tensor, head))] = trace.matrix_at(tensor, 0, head).values;
    };
    take("Q", inputs.Q), take("K", inputs.K), take("V", inputs.V), take("dO", inputs.dO);
    if (const int mask = trace.find("M", Space::Hbm); mask >= 0) inputs.mask = trace.matrix_at(mask, 0, 0).values;
    return inputs;
}

void add_to(std::vector<Matrix>& sums, int copy, const Matrix& part) {
    if (sums.size() <= static_cast<std::size_t>(copy)) sums.resize(static_cast<std::size_t>(copy) + 1);
    Matrix& sum = sums[static_cast<std::size_t>(copy)];
    sum = sum.size() > 0 ? Matrix(sum + part) : part;
}

Outputs in_double(const Problem& p, const Inputs& in, const Task& task) {
    Outputs out;
    for (int head = 0; head < p.total_heads(); ++head) {
        task.checkpoint();
        const Gradients g = reference_gradients(p, in, head);
        out.of["O"].push_back(reference(p, in, head).O);
        out.of["dQ"].push_back(g.dQ);
        add_to(out.of["dK"], p.kv_index(head), g.dK);
        add_to(out.of["dV"], p.kv_index(head), g.dV);
    }
    return out;
}

Outputs unfused(const Problem& p, const Inputs& in, const Task& task) {
    Outputs out;
    const DType format = p.dtype;
    for (int head = 0; head < p.total_heads(); ++head) {
        task.checkpoint();
        const Matrix Q = rounded(in.Q[head], format), K = rounded(in.K[p.kv_index(head)], format),
                     V = rounded(in.V[p.kv_index(head)], format), dO = rounded(in.dO[head], format);
        const Matrix S = rounded(scores(p, in, head), DType::Fp32);
        const Matrix P = rounded(softmax_rows(S), format), O = rounded(P * V, format);
        const Matrix dP = rounded(dO * V.transpose(), DType::Fp32);
        const Matrix D = rounded(dO.cwiseProduct(O).rowwise().sum(), DType::Fp32);
        const Matrix dS = rounded(P.cwiseProduct(dP - D.replicate(1, p.nk)), format);
        out.of["O"].push_back(O);
        out.of["dQ"].push_back(rounded(p.scale * (dS * K), format));
        add_to(out.of["dK"], p.kv_index(head), p.scale * (dS.transpose() * Q));
        add_to(out.of["dV"], p.kv_index(head), P.transpose() * dO);
    }
    for (const char* name : {"dK", "dV"})
        for (Matrix& sum : out.of[name]) round_all(sum, format);
    return out;
}

// The largest difference; infinite where only one side is finite or a NaN is there.
double largest_error(const Matrix& values, const Matrix& right) {
    double largest = 0;
    for (Eigen::Index k = 0; k < right.size(); ++k) {
        const double error = std::abs(values.data()[k] - right.data()[k]);
        if (values.data()[k] == right.data()[k]) continue;
        largest = std::isnan(error) ? kInf : std::max(largest, error);
    }
    return largest;
}

// The step from `value` to the next larger number of the format.
double ulp(double value, DType format) {
    const int digits = format == DType::Fp16 ? 10 : 7, least = format == DType::Fp16 ? -14 : -126;
    const int exponent = value > 0 ? std::max(std::ilogb(value), least) : least;
    return std::ldexp(1.0, exponent - digits);
}

}  // namespace

std::vector<OutputError> output_errors(const Trace& mirror, const KernelRun& run, const Task& task) {
    const Problem& p = mirror.problem;
    std::vector<OutputError> errors;
    if (p.dtype != DType::Fp16 && p.dtype != DType::Bf16) return errors;
    const Inputs in = inputs_of(mirror);
    std::optional<Outputs> right, without_fusion;
    for (const char* name : kOutputs) {
        const int tensor = mirror.find(name, Space::Hbm);
        if (tensor < 0 || mirror.tensors[tensor].role != Role::Output || !run.captured.contains({name, 0, -1, -1}))
            continue;
        if (!right) right = in_double(p, in, task), without_fusion = unfused(p, in, task);
        OutputError error{.tensor = name};
        double largest = 0;
        const std::vector<Matrix>& expected = right->of[name];
        for (std::size_t copy = 0; copy < expected.size(); ++copy) {
            const auto captured = run.captured.find({name, static_cast<int>(copy), -1, -1});
            const bool there = captured != run.captured.end() && captured->second.size() == expected[copy].size();
            error.kernel = std::max(error.kernel, there ? largest_error(captured->second, expected[copy]) : kInf);
            error.unfused = std::max(error.unfused, largest_error(without_fusion->of[name][copy], expected[copy]));
            for (double value : expected[copy].reshaped())
                if (std::isfinite(value)) largest = std::max(largest, std::abs(value));
        }
        error.limit = 2 * error.unfused + ulp(largest, p.dtype);
        error.within = error.kernel <= error.limit && std::isfinite(error.kernel);
        errors.push_back(error);
    }
    return errors;
}

}  // namespace flashstep
