// What is said of a step: nothing is left out, and every number stands in the trace.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/faults.h"
#include "core/formula_tree.h"
#include "lab/format.h"
#include "lab/presets.h"
#include "lab/sentence.h"

using namespace flashstep;

namespace {

Matrix evaluated(const Trace& trace, int index) {
    const Expr& e = trace.exprs[index];
    if (e.op == Op::Leaf) return trace.value(trace.versions[e.version]);
    const Matrix a = e.a >= 0 ? evaluated(trace, e.a) : Matrix(), b = e.b >= 0 ? evaluated(trace, e.b) : Matrix();
    return apply(e, &a, &b, trace.problem);
}

// Whether an amount of the kind Place is one that the step has: an index, a row or a column of a block or a tile, or
// how many there are of them.
bool has_place(const Trace& trace, int step, std::int64_t amount) {
    const Step& s = trace.steps[step];
    std::vector<std::int64_t> places = {
        s.i + 1,         s.j + 1,         s.w + 1, trace.problem.row_blocks(), trace.problem.col_blocks(),
        trace.problem.n, trace.problem.nk};
    if (s.i >= 0) places.push_back(trace.problem.col_blocks() - trace.problem.visible_blocks(s.i));
    const auto range = [&](const Trace::Range& r) {
        for (const std::int64_t at : {r.row0 + 1, r.row0 + r.rows, r.col0 + 1, r.col0 + r.cols}) places.push_back(at);
    };
    for (int k = s.touch_begin; k < s.touch_end; ++k) {
        const Touch& touch = trace.touches[k];
        if (trace.tensors[touch.tensor].space == Space::Hbm) range(trace.block_range(touch.tensor, touch.block));
        if (touch.version < 0) continue;
        const Version& v = trace.versions[touch.version];
        for (int r = 0; r <= v.rows; ++r) places.push_back(r);
        for (int c = 0; c <= v.cols; ++c) places.push_back(c);
    }
    for (int t = 0; t < static_cast<int>(trace.tensors.size()); ++t) {  // loops name their block before it is loaded
        if (trace.tensors[t].space != Space::Hbm) continue;
        const Tensor& tensor = trace.tensors[t];
        for (const int block : {s.i, s.j}) {
            if (block >= 0 && block < tensor.row_blocks()) range(trace.block_range(t, block * tensor.col_blocks()));
            if (block >= 0 && block < tensor.col_blocks()) range(trace.block_range(t, block));
        }
    }
    return std::ranges::find(places, amount) != places.end();
}

// Empty: the figure is what the trace has there.
std::string wrong_with(const Figure& figure, const Trace& trace, int step) {
    const auto is = [&](double value) {
        return figure.text == number_in_words(value) || figure.text == number_in_formula(value);
    };
    switch (figure.source) {
        case Figure::Source::Cell:
            return is(trace.value(trace.versions[figure.index])(figure.row, figure.col)) ? "" : "cell";
        case Figure::Source::Node: {
            const Matrix value = evaluated(trace, figure.index);
            return is(value(figure.row, value.cols() == 1 ? 0 : figure.col)) ? "" : "node";
        }
        case Figure::Source::Factor:
            return is(trace.exprs[figure.index].number) ? "" : "factor";
        case Figure::Source::Bytes: {
            std::int64_t sum = 0;
            const Step& s = trace.steps[step];
            for (int k = s.touch_begin; k < s.touch_end; ++k) {
                const Touch& touch = trace.touches[k];
                if (touch.tensor != figure.index || trace.tensors[touch.tensor].space != Space::Hbm) continue;
                if (touch.kind != TouchKind::Init && touch.bytes == figure.amount) return "";
                if (touch.kind == TouchKind::Init) sum += touch.bytes;
            }
            return sum == figure.amount && figure.text == bytes_text(figure.amount) ? "" : "bytes";
        }
        case Figure::Source::Place:
            return figure.text == fmt::format("{}", figure.amount) && has_place(trace, step, figure.amount) ? ""
                                                                                                            : "place";
    }
    return "source";
}

// Empty: the text's numbers are its figures, each as often as it is kept, and there is no other digit.
std::string wrong_with(std::string text, std::vector<Figure> figures) {
    for (const char* base : {"$2^{", "\\log_2", "1/"})  // of the exponentials, of inverses
        for (auto at = text.find(base); at != text.npos; at = text.find(base)) text.erase(at, std::string(base).size());
    std::ranges::sort(figures, std::ranges::greater{}, [](const Figure& f) { return f.text.size(); });
    for (const Figure& figure : figures) {
        const auto at = text.find(figure.text);
        if (at == text.npos) return figure.text + " is not in it: " + text;
        text.replace(at, figure.text.size(), " ");
    }
    const auto digit = text.find_first_of("0123456789");
    return digit == text.npos ? "" : "a number of its own: " + text;
}

// All that is wrong with a step's sentence.
std::string wrong_with(const StepSentence& said, const Trace& trace, const StepView& view) {
    if (said.clauses.empty()) return "nothing is said";
    std::vector<bool> told(view.changes.size());
    for (const Clause& clause : said.clauses) {
        if (clause.text.en.empty() || clause.text.zh.empty()) return "one language is missing: " + clause.text.en;
        if (std::ranges::count(clause.text.en, '$') % 2 != 0) return "a dollar without partner: " + clause.text.en;
        std::string rest = clause.text.en;
        while (rest.find('$') != rest.npos) {
            rest.erase(0, rest.find('$') + 1);
            if (const Formula formula = parse_formula(rest.substr(0, rest.find('$'))); !formula.error.empty())
                return formula.error + ": " + clause.text.en;
            rest.erase(0, rest.find('$') + 1);
        }
        for (const Language language : {Language::English, Language::Chinese})
            if (auto wrong = wrong_with(clause.where.in(language) + " " + clause.text.in(language), clause.figures);
                !wrong.empty())
                return wrong;
        for (const Figure& figure : clause.figures)
            if (auto wrong = wrong_with(figure, trace, view.step); !wrong.empty())
                return fmt::format("{} {}: {}", wrong, figure.text, clause.text.en);
        if (clause.change >= 0) told[clause.change] = true;
    }
    for (std::size_t k = 0; k < told.size(); ++k) {
        const Change& change = view.changes[k];
        const bool filled_with_its_matrix =
            k > 0 && change.kind == Change::Kind::Init && told[k - 1] && view.changes[k - 1].matrix == change.matrix;
        if (filled_with_its_matrix) told[k] = true;
        if (!told[k]) return fmt::format("change {} is not told", k);
    }
    return "";
}

std::vector<Problem> problems() {
    Problem plain;
    plain.n = plain.nk = 4, plain.d = plain.dv = 3, plain.br = plain.bc = 2, plain.scale = 0.5;
    Problem masked;
    masked.n = 5, masked.nk = 7, masked.d = 6, masked.dv = 2, masked.heads = 2, masked.kv_heads = 1;
    masked.br = masked.bc = 2, masked.causal = true, masked.mask = MaskShape::Scores;
    Problem half = plain;
    half.dtype = DType::Fp16, half.nk = 5, half.bc = 3;
    return {plain, masked, half};
}

}  // namespace

TEST_CASE("every step of every algorithm has a sentence in both languages whose numbers are the trace's") {
    for (const Algorithm& algorithm : algorithms()) {
        for (Problem p : problems()) {
            for (const bool base2 : {false, true}) {
                if (base2 && !algorithm.base2) continue;
                p.base2 = base2;
                const Trace trace = record(algorithm, p, make_inputs(p));
                for (int s = 0; s <= trace.last_step(); ++s) {
                    const StepView view = view_of(trace, s);
                    const StepSentence said = sentence_of(algorithm, trace, view);
                    const std::string wrong = wrong_with(said, trace, view);
                    INFO(std::string(algorithm.id), " step ", s, " line ", trace.steps[s].line, ": ", said.whole().en);
                    REQUIRE(wrong == "");
                }
            }
        }
    }
}

TEST_CASE("the sentences of a run with a mistake tell the mistake's numbers") {
    for (const Fault& fault : faults()) {
        Problem p;
        p.n = p.nk = 5, p.d = p.dv = 3, p.br = p.bc = 2, p.causal = true;
        const Algorithm& algorithm = *find_algorithm(fault.algorithm);
        const Trace trace = record(algorithm, p, make_inputs(p), &fault);
        for (int s = 0; s <= trace.last_step(); ++s) {
            const StepView view = view_of(trace, s);
            const StepSentence said = sentence_of(algorithm, trace, view);
            INFO(std::string(fault.id), " step ", s, ": ", said.whole().en);
            REQUIRE(wrong_with(said, trace, view) == "");
        }
    }
}

TEST_CASE("a wrong number, a missing change and a missing language in a sentence are found") {
    const Problem p = problems()[0];
    const Algorithm& algorithm = *find_algorithm("fa2_forward");
    const Trace trace = record(algorithm, p, make_inputs(p));
    for (int s = 1; s <= trace.last_step(); ++s) {
        const StepView view = view_of(trace, s);
        const StepSentence right = sentence_of(algorithm, trace, view);
        for (std::size_t k = 0; k < right.clauses.size(); ++k) {
            for (std::size_t f = 0; f < right.clauses[k].figures.size(); ++f) {
                const std::string text = right.clauses[k].figures[f].text;
                StepSentence wrong = right;
                for (std::string* said : {&wrong.clauses[k].text.en, &wrong.clauses[k].where.en})
                    if (const auto at = said->find(text); at != said->npos) {
                        said->replace(at, text.size(), "0.12345");
                        break;
                    }
                CHECK(wrong_with(wrong, trace, view) != "");
                wrong.clauses[k].figures[f].text = "0.12345";  // said alike, but not so in the trace
                CHECK(wrong_with(wrong, trace, view) != "");
            }
            StepSentence silent = right;
            silent.clauses[k].text.zh.clear();
            CHECK(wrong_with(silent, trace, view) != "");
        }
        if (view.changes.empty()) continue;
        StepSentence shorter = right;
        shorter.clauses.pop_back();
        CHECK(wrong_with(shorter, trace, view) != "");
    }
}

TEST_CASE("a risen maximum is told with its old and new value and with what it does to what was kept") {
    Problem p;
    p.n = 1, p.nk = 2, p.d = p.dv = 1, p.br = p.bc = 1, p.scale = 1;
    Inputs inputs = make_inputs(p);
    inputs.Q[0] << 1;
    inputs.K[0] << 1, 2;
    inputs.V[0] << 3, 5;
    const Algorithm& algorithm = *find_algorithm("fa2_forward");
    const Trace trace = record(algorithm, p, inputs);
    std::vector<std::string> nine, ten;
    for (int s = 1; s <= trace.last_step(); ++s) {
        const std::string said = sentence_of(algorithm, trace, view_of(trace, s)).whole().en;
        if (trace.steps[s].line == 9) nine.push_back(said);
        if (trace.steps[s].line == 10) ten.push_back(said);
    }
    REQUIRE(nine.size() == 2);
    CHECK(nine[1].find("$m_i$ rises from 1 to 2") != std::string::npos);
    CHECK(nine[1].find("1 × 0.368 ($e^{1 - 2}$: the maximum is higher) + 1 = 1.37") != std::string::npos);
    CHECK(ten[1].find("$\\tilde{O}_i$ × 0.368") == std::string::npos);  // one column: the number itself, not its name
    CHECK(ten[1].find("3 × 0.368") != std::string::npos);
}

TEST_CASE("where 0 stands for 1/0 the sentence says 0: for a row without keys, and for the guarded mistake") {
    const Preset& preset = *find_preset("masked_rows");
    const auto said_at = [&](const Fault* fault, int line) {
        const Algorithm& algorithm = *find_algorithm("fa2_forward");
        const Trace trace = record(algorithm, preset.problem, preset.inputs(preset.problem), fault);
        const auto step = std::ranges::find(trace.steps, line, &Step::line) - trace.steps.begin();
        return sentence_of(algorithm, trace, view_of(trace, static_cast<int>(step))).whole();
    };
    CHECK(said_at(nullptr, 12).en.find("× 0 (in place of 1/0)") != std::string::npos);
    CHECK(said_at(nullptr, 12).zh.find("× 0（代替 1/0）") != std::string::npos);
    CHECK(said_at(find_fault("literal-inverse-guarded"), 10).en.find("× 0 (in place of 1/0)") != std::string::npos);
    CHECK(said_at(find_fault("literal-inverse"), 10).en.find("× 1/0") != std::string::npos);
}
