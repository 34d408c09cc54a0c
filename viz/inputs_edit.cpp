// From typed text to a problem.
#include "viz/inputs_edit.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <limits>

#include "core/error.h"
#include "core/io/tensor_file.h"

namespace flashstep::viz {
namespace {

std::string cleaned(std::string_view text) {
    std::string out(text);
    for (std::size_t at; (at = out.find("\u2212")) != std::string::npos;) out.replace(at, 3, "-");
    std::erase(out, ' ');
    return out;
}

std::int64_t parse_integer(std::string_view text) {
    const double value = parse_number(text);
    if (value != std::floor(value)) throw Error(fmt::format("{} is not a whole number", text));
    if (std::abs(value) > 9e15) throw Error(fmt::format("{} is too large", text));
    return static_cast<std::int64_t>(value);
}

int parse_size(std::string_view text) {
    const std::int64_t value = parse_integer(text);
    if (value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min())
        throw Error(fmt::format("{} is too large", text));
    return static_cast<int>(value);
}

double default_of(int d) { return 1 / std::sqrt(static_cast<double>(d)); }

}  // namespace

bool default_scale(const Problem& p) { return std::abs(p.scale - default_of(p.d)) < 1e-12; }

double parse_number(std::string_view text) {
    const std::string clean = cleaned(text);
    const char *first = clean.data(), *end = first + clean.size();
    if (first != end && *first == '+') ++first;
    double value = 0;
    const auto [at, error] = std::from_chars(first, end, value);
    if (error == std::errc::result_out_of_range) throw Error(fmt::format("{} is too large", text));
    if (error != std::errc{} || at != end) throw Error(fmt::format("\"{}\" is not a number", text));
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
            if (seed < 0) throw Error(fmt::format("seed is {}; it must be 0 or more", seed));
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

void load_matrix(Session& session, char matrix, const std::string& path) {
    const io::TensorFile file = io::read_tensor(path);
    const Recipe& now = session.recipe();
    Problem p = now.problem;
    const bool scaled = default_scale(p);
    if (matrix == 'Q') p.n = file.rows, p.d = file.cols;
    if (matrix == 'K') p.nk = file.rows, p.d = file.cols;
    if (matrix == 'V') p.nk = file.rows, p.dv = file.cols;
    if (scaled && p.d > 0) p.scale = default_of(p.d);
    if (file.has_heads) {
        p.batch = file.batch;
        if (matrix != 'Q' || p.kv_heads == p.heads) p.kv_heads = file.heads;
        if (matrix == 'Q' || now.problem.kv_heads == now.problem.heads) p.heads = file.heads;
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
    (matrix == 'Q' ? inputs.Q : matrix == 'K' ? inputs.K : inputs.V) = file.matrices;
    validate(p, inputs);
    session.edit([&](Recipe& recipe) {
        recipe.problem = p;
        recipe.inputs = std::move(inputs);
    });
}

}  // namespace flashstep::viz
