// Judging answers.
#include "lessons/questions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <numeric>

#include "core/error.h"
#include "lab/edit.h"
#include "lessons/evaluate.h"
#include "lessons/problem_keys.h"

namespace flashstep {
namespace {

constexpr int kLeastDigits = 2;  // that a typed number must say

// A number as it was typed, with what its last digit stands for.
struct Typed {
    double value = 0;
    double unit = 0;  // of the last digit; 0: infinite
    int digits = 0;   // significant
};

// The text in ASCII without spaces: the minus sign and the full-width figures of Chinese input are read too.
std::string plain_text(std::string_view typed) {
    static constexpr std::pair<std::string_view, std::string_view> kSigns[] = {
        {"−", "-"}, {"－", "-"}, {"＋", "+"}, {"．", "."}, {"。", "."}, {"∞", "inf"}, {"　", ""}};
    std::string plain;
    while (!typed.empty()) {
        const auto* sign = std::ranges::find_if(kSigns, [&](const auto& s) { return typed.starts_with(s.first); });
        if (sign != std::end(kSigns)) {
            plain += sign->second;
            typed.remove_prefix(sign->first.size());
        } else if (typed.size() >= 3 && typed.starts_with("\xEF\xBC") && typed[2] >= '\x90' && typed[2] <= '\x99') {
            plain += static_cast<char>('0' + (typed[2] - '\x90'));
            typed.remove_prefix(3);
        } else {
            if (typed.front() != ' ' && typed.front() != '\t') plain += typed.front();
            typed.remove_prefix(1);
        }
    }
    return plain;
}

// "12,345" without its separators; anything else as it is.
std::string without_separators(std::string text) {
    const std::size_t first = text.find(',');
    if (first == std::string::npos || first == 0 || first > 4) return text;
    for (std::size_t at = first; at < text.size(); at += 4)
        if (text[at] != ',' || at + 4 > text.size()) return text;
    std::erase(text, ',');
    return text;
}

std::optional<Typed> read_number(std::string_view text) {
    const std::string plain = without_separators(plain_text(text));
    std::string_view rest = plain;
    if (rest.starts_with('+')) rest.remove_prefix(1);
    Typed typed;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), typed.value);
    if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
    if (!std::isfinite(typed.value)) return typed;
    const std::size_t exponent_at = std::min(rest.find_first_of("eE"), rest.size());
    const std::string_view mantissa = rest.substr(0, exponent_at);
    int exponent = 0;
    if (exponent_at < rest.size()) {
        std::string_view power = rest.substr(exponent_at + 1);
        if (power.starts_with('+')) power.remove_prefix(1);
        std::from_chars(power.data(), power.data() + power.size(), exponent);
    }
    const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
    const int decimals = static_cast<int>(mantissa.size() - std::min(point + 1, mantissa.size()));
    for (const char c : mantissa)
        if (std::isdigit(static_cast<unsigned char>(c)) && (c != '0' || typed.digits > 0)) ++typed.digits;
    typed.unit = std::pow(10.0, exponent - decimals);
    return typed;
}

bool same_number(double a, double b) {
    return a == b || (std::isfinite(b) && std::abs(a - b) <= 1e-9 * std::abs(b)) || (std::isnan(a) && std::isnan(b));
}

bool rounds_to(double value, const Typed& typed) {
    return same_number(typed.value, value) ||
           (std::isfinite(value) && std::abs(value - typed.value) <= typed.unit * (0.5 + 1e-9));
}

// A tensor as it is at the question's place: how many rows and columns.
std::pair<int, int> shape_of(const Question& question, const Trace& trace, int step) {
    const int tile = trace.find(question.tensor, Space::Sram), matrix = trace.find(question.tensor, Space::Hbm);
    const int version = tile < 0 ? -1 : trace.tile_at(tile, step);
    if (version >= 0) return {trace.versions[version].rows, trace.versions[version].cols};
    if (matrix < 0) throw Error(fmt::format("{} is not there at {}", question.tensor, place_text(question.at)));
    return {trace.tensors[matrix].rows, trace.tensors[matrix].cols};
}

void change_size(Recipe& recipe, std::string_view change) {
    const Source source{{"a change"}, Language::English};
    const std::vector<TomlSection> sections = parse_toml(change, 1, source);
    Keys keys(sections, source, fmt::format("'{}'", change));
    Problem problem = recipe.problem;
    take_problem(keys, problem);
    keys.finish();
    recipe = resized(std::move(recipe), problem);
}

}  // namespace

Answer judge_number(double right, std::string_view typed, double* given) {
    const std::optional<Typed> number = read_number(typed);
    if (!number) return Answer::Unreadable;
    if (given) *given = number->value;
    if (!rounds_to(right, *number)) return Answer::Wrong;
    return number->digits < kLeastDigits && !same_number(number->value, right) ? Answer::TooRough : Answer::Right;
}

Judgement judge_value(const Question& question, std::string_view typed, Scenes& scenes) {
    const Answer answer = judge_number(evaluate(question.answer, scenes), typed);
    if (answer == Answer::Right) return {answer, &question.right};
    if (answer == Answer::Unreadable) return {answer, nullptr};
    const std::optional<Typed> number = read_number(typed);
    // What is too rough for the answer can be a wrong one in full: 0 where -0.0625 is asked for.
    for (const WrongAnswer& wrong : question.wrong) {
        const double tempting = evaluate(wrong.answer, scenes);
        if (answer == Answer::TooRough ? same_number(number->value, tempting) : rounds_to(tempting, *number))
            return {Answer::Wrong, &wrong.reply};
    }
    return {answer, nullptr};
}

std::vector<std::size_t> right_options(const Question& question, Scenes& scenes) {
    std::vector<std::size_t> right;
    int first_step = -1;
    std::shared_ptr<const Run> run;
    if (question.kind == QuestionKind::Breaks) {
        run = scenes.run(question.scene);
        if (!run->departure) throw Error(fmt::format("the mistake of scene {} shows nowhere", question.scene));
        first_step = run->trace.versions[run->departure->version].step;
    }
    for (std::size_t k = 0; k < question.options.size(); ++k) {
        const Option& option = question.options[k];
        const bool is_right = question.kind == QuestionKind::Breaks ? step_at(run->trace, *option.at) == first_step
                                                                    : holds(option.when, scenes);
        if (is_right) right.push_back(k);
    }
    return right;
}

Judgement judge_option(const Question& question, std::size_t chosen, Scenes& scenes) {
    if (chosen >= question.options.size()) return {Answer::Unreadable, nullptr};
    const std::vector<std::size_t> right = right_options(question, scenes);
    if (std::ranges::find(right, chosen) != right.end()) return {Answer::Right, &question.right};
    const Prose& reply = question.options[chosen].reply;
    return {Answer::Wrong, reply.empty() ? nullptr : &reply};
}

std::vector<CellName> right_cells(const Question& question, Scenes& scenes) {
    const std::shared_ptr<const Run> run = scenes.run(question.scene);
    const Trace& trace = run->trace;
    const auto [rows, cols] = shape_of(question, trace, step_at(trace, question.at));
    std::vector<CellName> right;
    for (int row = 0; row < rows; ++row)
        for (int col = 0; col < cols; ++col)
            if (holds(question.answer, scenes, {row, col})) right.push_back({question.tensor, row, col});
    return right;
}

Judgement judge_cell(const Question& question, const CellName& cell, Scenes& scenes) {
    if (cell.tensor != question.tensor) return {Answer::Wrong, nullptr};
    const std::vector<CellName> right = right_cells(question, scenes);
    if (std::ranges::find(right, cell) != right.end()) return {Answer::Right, &question.right};
    for (const WrongAnswer& wrong : question.wrong)
        if (holds(wrong.answer, scenes, {cell.row, cell.col})) return {Answer::Wrong, &wrong.reply};
    return {Answer::Wrong, nullptr};
}

std::vector<std::size_t> right_order(const Question& question, Scenes& scenes) {
    std::vector<double> keys;
    for (const Option& option : question.options) keys.push_back(evaluate(option.key, scenes));
    std::vector<std::size_t> order(keys.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return keys[k]; });
    return order;
}

Judgement judge_order(const Question& question, std::span<const std::size_t> order, Scenes& scenes) {
    if (std::ranges::equal(order, right_order(question, scenes))) return {Answer::Right, &question.right};
    return {Answer::Wrong, nullptr};
}

void make_change(Recipe& recipe, std::string_view change) {
    const std::size_t equals = change.find('=');
    if (equals == std::string_view::npos)
        throw Error(fmt::format("'{}' changes nothing", change), "Q[1,1] = 3 and bc = 4 do");
    std::string_view name = change.substr(0, equals);
    while (name.ends_with(' ')) name.remove_suffix(1);
    if (!name.ends_with(']')) return change_size(recipe, change);
    const CellName cell = parse_cell(name);
    const std::optional<Typed> number = read_number(change.substr(equals + 1));
    if (!number) throw Error(fmt::format("'{}' has no number", change));
    for (int which = 0; which < kInputMatrices; ++which) {
        if (name_of(static_cast<InputMatrix>(which)) != cell.tensor) continue;
        Matrix* matrix = input_matrix(recipe, static_cast<InputMatrix>(which), 0);
        if (!matrix || cell.row >= matrix->rows() || cell.col >= matrix->cols()) break;
        (*matrix)(cell.row, cell.col) = number->value;
        return;
    }
    throw Error(fmt::format("'{}' names no cell of an input", change));
}

}  // namespace flashstep
