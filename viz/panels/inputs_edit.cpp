// From typed text to a problem.
#include "viz/panels/inputs_edit.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/io/tensor_file.h"
#include "core/say.h"

namespace flashstep::viz {
namespace {

std::string cleaned(std::string_view text) {
    std::string out(text);
    for (std::size_t at; (at = out.find("\u2212")) != std::string::npos;) out.replace(at, 3, "-");
    for (std::size_t at; (at = out.find("\u221E")) != std::string::npos;) out.replace(at, 3, "inf");
    std::erase(out, ' ');
    return out;
}

std::int64_t parse_integer(std::string_view text) {
    const double value = parse_number(text);
    if (value != std::floor(value)) throw Error(say("{} is not a whole number", "{} 不是整数", text));
    if (std::abs(value) > 9e15) throw Error(say("{} is too large", "{} 太大", text));
    return static_cast<std::int64_t>(value);
}

int parse_size(std::string_view text) {
    const std::int64_t value = parse_integer(text);
    if (value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min())
        throw Error(say("{} is too large", "{} 太大", text));
    return static_cast<int>(value);
}

double default_of(int d) { return 1 / std::sqrt(static_cast<double>(d)); }

// The mask goes to the problem that is there: its shape says what it masks.
void load_mask(Session& session, const io::TensorFile& file) {
    const Recipe& now = session.recipe();
    Problem p = now.problem;
    if (file.matrices.size() != 1)
        throw Error(say("{} holds {} matrices; a mask is one, the same for all heads",
                        "{} 含有 {} 个矩阵；掩码只有一个，所有 head 共用", file.path, file.matrices.size()));
    const bool row = file.rows == 1, column = file.cols == 1 && file.rows == p.nk && p.nk > 1;
    if (column || (row && file.cols == p.nk)) {
        p.mask = MaskShape::Keys;
    } else if (file.rows == p.n && file.cols == p.nk) {
        p.mask = MaskShape::Scores;
    } else {
        throw Error(say("{} is {} x {}; a mask of this problem is 1 x {} (keys) or {} x {} (scores)",
                        "{} 的尺寸是 {} × {}；当前问题的掩码应为 1 × {}（按 key）或 {} × {}（按分数）", file.path,
                        file.rows, file.cols, p.nk, p.n, p.nk));
    }
    session.edit([&](Recipe& recipe) {
        recipe.problem = p;
        const Matrix& read = file.matrices.front();
        recipe.inputs.mask = column ? Matrix(read.transpose()) : read;
    });
}

}  // namespace

bool default_scale(const Problem& p) { return std::abs(p.scale - default_of(p.d)) < 1e-12; }

double parse_number(std::string_view text) {
    const std::string clean = cleaned(text);
    const char *first = clean.data(), *end = first + clean.size();
    if (first != end && *first == '+') ++first;
    double value = 0;
    const auto [at, error] = std::from_chars(first, end, value);
    if (error == std::errc::result_out_of_range) throw Error(say("{} is too large", "{} 太大", text));
    if (error != std::errc{} || at != end) throw Error(say("\"{}\" is not a number", "“{}”不是数值", text));
    return value;
}

std::string field_text(const Problem& p, Field field) {
    switch (field) {
        case Field::N:
            return std::to_string(p.n);
        case Field::Nk:
            return std::to_string(p.nk);
        case Field::D:
            return std::to_string(p.d);
        case Field::Dv:
            return std::to_string(p.dv);
        case Field::Br:
            return std::to_string(p.br);
        case Field::Bc:
            return std::to_string(p.bc);
        case Field::Scale:
            return fmt::format("{:.6g}", p.scale);
        case Field::Seed:
            return std::to_string(p.seed);
        case Field::Batch:
            return std::to_string(p.batch);
        case Field::Heads:
            return std::to_string(p.heads);
        case Field::KvHeads:
            return std::to_string(p.kv_heads);
        case Field::Sram:
            return std::to_string(p.sram_bytes);
    }
    return {};
}

Problem with_field(const Problem& before, Field field, std::string_view text) {
    Problem p = before;
    switch (field) {
        case Field::N:
            p.n = parse_size(text);
            if (before.nk == before.n) p.nk = p.n;
            break;
        case Field::Nk:
            p.nk = parse_size(text);
            break;
        case Field::D:
            p.d = parse_size(text);
            if (before.dv == before.d) p.dv = p.d;
            if (p.d > 0 && default_scale(before)) p.scale = default_of(p.d);
            break;
        case Field::Dv:
            p.dv = parse_size(text);
            break;
        case Field::Br:
            p.br = parse_size(text);
            break;
        case Field::Bc:
            p.bc = parse_size(text);
            break;
        case Field::Scale:
            p.scale = parse_number(text);
            break;
        case Field::Seed: {
            const std::int64_t seed = parse_integer(text);
            if (seed < 0) throw Error(say("seed is {}; it must be 0 or more", "随机种子为 {}，应不小于 0", seed));
            p.seed = static_cast<std::uint64_t>(seed);
            break;
        }
        case Field::Batch:
            p.batch = parse_size(text);
            break;
        case Field::Heads:
            p.heads = parse_size(text);
            if (before.kv_heads == before.heads) p.kv_heads = p.heads;
            break;
        case Field::KvHeads:
            p.kv_heads = parse_size(text);
            break;
        case Field::Sram:
            p.sram_bytes = parse_integer(text);
            break;
    }
    validate(p);
    return p;
}

std::string cell_text(double value) {
    if (std::isnan(value)) return "NaN";
    if (std::isinf(value)) return value < 0 ? "\u2212\u221E" : "\u221E";
    return fmt::format("{}", value);
}

void load_matrix(Session& session, InputMatrix which, const std::string& path) {
    const io::TensorFile file = io::read_tensor(path);
    const Recipe& now = session.recipe();
    Problem p = now.problem;
    const bool scaled = default_scale(p);
    switch (which) {
        case InputMatrix::Q:
            p.n = file.rows, p.d = file.cols;
            break;
        case InputMatrix::K:
            p.nk = file.rows, p.d = file.cols;
            break;
        case InputMatrix::V:
            p.nk = file.rows, p.dv = file.cols;
            break;
        case InputMatrix::dO:
            p.n = file.rows, p.dv = file.cols;
            break;
        case InputMatrix::M:
            return load_mask(session, file);
    }
    if (scaled && p.d > 0) p.scale = default_of(p.d);
    if (file.has_heads) {
        const bool query = which == InputMatrix::Q || which == InputMatrix::dO;
        p.batch = file.batch;
        if (!query || p.kv_heads == p.heads) p.kv_heads = file.heads;
        if (query || now.problem.kv_heads == now.problem.heads) p.heads = file.heads;
    }
    validate(p);
    // What keeps its shape keeps its numbers; what does not is random, as after a change of sizes.
    Inputs inputs = make_inputs(p);
    const auto keep = [](std::vector<Matrix>& fresh, const std::vector<Matrix>& old) {
        for (std::size_t h = 0; h < std::min(fresh.size(), old.size()); ++h)
            if (fresh[h].rows() == old[h].rows() && fresh[h].cols() == old[h].cols()) fresh[h] = old[h];
    };
    keep(inputs.Q, now.inputs.Q), keep(inputs.K, now.inputs.K);
    keep(inputs.V, now.inputs.V), keep(inputs.dO, now.inputs.dO);
    if (inputs.mask.rows() == now.inputs.mask.rows() && inputs.mask.cols() == now.inputs.mask.cols())
        inputs.mask = now.inputs.mask;
    (which == InputMatrix::Q   ? inputs.Q
     : which == InputMatrix::K ? inputs.K
     : which == InputMatrix::V ? inputs.V
                               : inputs.dO) = file.matrices;
    validate(p, inputs);
    session.edit([&](Recipe& recipe) {
        recipe.problem = p;
        recipe.inputs = std::move(inputs);
    });
}

}  // namespace flashstep::viz
