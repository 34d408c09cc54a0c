// The formulas behind cells: symbols, numbers that evaluate to the value, operands.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/explain.h"
#include "core/formula_tree.h"
#include "lab/presets.h"

using namespace flashstep;

namespace {

// Evaluates the numbers of an explanation: + - \cdot \max(...) \log(...) \frac{}{} e^{...} \infty and parentheses.
class Calculator {
  public:
    explicit Calculator(std::string text) : text_(std::move(text)) {}
    double result() {
        const double value = sum();
        skip();
        CHECK_MESSAGE(at_ == text_.size(), text_);
        return value;
    }

  private:
    void skip() {
        while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    }
    bool take(std::string_view token) {
        skip();
        if (text_.compare(at_, token.size(), token) != 0) return false;
        at_ += token.size();
        return true;
    }
    double sum() {
        double value = product();
        for (;;) {
            if (take("+"))
                value += product();
            else if (take("-"))
                value -= product();
            else
                return value;
        }
    }
    double product() {
        double value = atom();
        while (take("\\cdot")) {
            const double factor = atom();
            value = value == 0 || factor == 0 ? 0 : value * factor;
        }
        return value;
    }
    double atom() {
        if (take("-")) return -atom();
        if (take("\\infty")) return kInf;
        if (take("\\mathrm{NaN}")) return std::nan("");
        if (take("\\mathrm{masked} \\rightarrow -\\infty")) return -kInf;
        if (take("\\frac{")) {
            const double a = sum();
            CHECK(take("}{"));
            const double b = sum();
            CHECK(take("}"));
            return b == 0 ? 0 : a / b;
        }
        if (take("e^{")) {
            const double a = product();
            const double b = take("-") ? product() : 0;
            CHECK(take("}"));
            return a == -kInf && b == -kInf ? 0 : std::exp(a - b);
        }
        if (take("2^{")) {
            const double a = product();
            const double b = take("-") ? product() : 0;
            CHECK(take("}"));
            return a == -kInf && b == -kInf ? 0 : std::exp2(a - b);
        }
        if (take("\\max(")) {
            double value = sum();
            while (take(",")) value = std::max(value, sum());
            CHECK(take(")"));
            return value;
        }
        if (take("\\log(")) {
            const double value = std::log(sum());
            CHECK(take(")"));
            return value;
        }
        if (take("10^{")) {
            const double value = std::pow(10, sum());
            CHECK(take("}"));
            return value;
        }
        if (take("(")) {
            const double value = sum();
            CHECK(take(")"));
            return value;
        }
        skip();
        std::size_t used = 0;
        const double value = std::stod(text_.substr(at_), &used);
        at_ += used;
        return value;
    }
    std::string text_;
    std::size_t at_ = 0;
};

int last_version_of(const Trace& trace, std::string_view name, int line) {
    int found = -1;
    for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v)
        if (trace.tensors[trace.versions[v].tensor].name == name && trace.steps[trace.versions[v].step].line == line)
            found = v;
    REQUIRE(found >= 0);
    return found;
}

}  // namespace

TEST_CASE("the numbers of every cell of every algorithm evaluate to its value") {
    for (const Algorithm& algorithm : algorithms())
        for (bool causal : {false, true}) {
            Problem p = find_preset("n4d3")->problem;
            p.causal = p.base2 = causal;
            p.nk = 3;
            p.scale = 0.7;
            p.dtype = DType::Exact;
            const Trace trace = record(algorithm, p, make_inputs(p));
            int explained = 0;
            for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v)
                for (int r = 0; r < trace.versions[v].rows; ++r)
                    for (int c = 0; c < trace.versions[v].cols; ++c) {
                        const Explanation why = explain(trace, v, r, c, Language::English, 17, 1000);
                        CHECK(parse_formula(why.symbols).error == "");
                        if (why.numbers.empty()) continue;
                        ++explained;
                        INFO(algorithm.id << " " << why.cell << " = " << why.symbols << " = " << why.numbers);
                        CHECK(parse_formula(why.numbers).error == "");
                        const double value = Calculator(why.numbers).result();
                        CHECK((value == why.value || value == doctest::Approx(why.value).epsilon(1e-12)));
                    }
            CHECK(explained > 20);
        }
}

TEST_CASE("where 0 stands for 1/0, as for a row without keys, the numbers say 0") {
    const Preset& preset = *find_preset("masked_rows");
    const Trace trace = record(*find_algorithm("fa2_forward"), preset.problem, preset.inputs(preset.problem));
    int empty = 0;
    for (int v = 0; v < static_cast<int>(trace.versions.size()); ++v) {
        if (trace.steps[trace.versions[v].step].line != 12) continue;
        const Explanation why = explain(trace, v, 0, 0, Language::English, 17, 1000);
        INFO(why.numbers);
        CHECK(why.numbers.find("\\frac{1}{0}") == std::string::npos);
        empty += why.numbers == "0 \\cdot 0";
    }
    CHECK(empty == 2);
}

TEST_CASE("a score is explained by its row of Q and its row of K") {
    const Preset& preset = *find_preset("n4d3");
    const Trace trace = record(*find_algorithm("fa2_forward"), preset.problem, preset.inputs(preset.problem));
    const int version = last_version_of(trace, "S_ij", 8);
    const Explanation why = explain(trace, version, 0, 1);
    CHECK(why.cell == "S_{ij}[1,2]");
    CHECK(why.symbols == "\\tau (\\sum_k Q_{i}[1,k] K_{j}[2,k])");
    CHECK(why.numbers == "1 \\cdot (2 \\cdot 0 + 0 \\cdot 1 + 1 \\cdot (-1))");
    CHECK(why.value == -1);
    CHECK(why.line == 8);
    CHECK(why.operands.size() == 2);
    CHECK_THROWS_AS(explain(trace, version, 2, 0), Error);
}

TEST_CASE("a mask of one row is explained by that row for every query") {
    Problem p = find_preset("n4d3")->problem;
    p.mask = MaskShape::Keys;
    p.dtype = DType::Exact;
    Inputs inputs = make_inputs(p);
    inputs.mask << 0.25, -1, 2, -kInf;
    const Trace trace = record(*find_algorithm("fa2_forward"), p, inputs);
    const int version = last_version_of(trace, "S_ij", 8);
    const Explanation why = explain(trace, version, 1, 0, Language::English, 17);  // the last tile: query 4, key 3
    CHECK(why.symbols == "\\tau (\\sum_k Q_{i}[2,k] K_{j}[1,k]) + M[1,3]");
    CHECK(why.numbers.ends_with(" + 2"));
    CHECK(Calculator(why.numbers).result() == doctest::Approx(why.value).epsilon(1e-12));
}

TEST_CASE("a long sum is cut and says how many terms it has") {
    const Preset& preset = *find_preset("n64");
    const Trace trace = record(*find_algorithm("fa2_forward"), preset.problem, preset.inputs(preset.problem));
    const Explanation why = explain(trace, last_version_of(trace, "S_ij", 8), 0, 0);
    CHECK(why.numbers.find("(16 terms)") != std::string::npos);
    CHECK(parse_formula(why.numbers).error == "");
}
