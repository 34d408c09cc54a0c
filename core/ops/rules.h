// Rules that several operations share; included by the files of core/ops only.
#pragma once

#include <fmt/format.h>

#include <algorithm>

#include "core/ops/rows.h"
#include "core/say.h"

namespace flashstep::rules {

inline std::int64_t size(Shape s) { return std::int64_t{s.rows} * s.cols; }

// ---- shapes

inline bool no_operand(const Expr&, const Expr&, const Expr&) { return true; }
inline bool like_a(const Expr& e, const Expr& a, const Expr&) { return e.rows == a.rows && e.cols == a.cols; }
// b as large as a, a column, a row or one number
inline bool like_a_spread_b(const Expr& e, const Expr& a, const Expr& b) {
    return like_a(e, a, b) && (b.rows == a.rows || b.rows == 1) && (b.cols == a.cols || b.cols == 1);
}
inline bool column_of_a(const Expr& e, const Expr& a, const Expr&) { return e.rows == a.rows && e.cols == 1; }

// ---- costs

inline Cost one_each(Shape a, Shape) { return {.other = size(a)}; }

// ---- values

// They ask the task between runs of elements.

template <typename F>
Matrix map(const ValueTerms& t, F f) {
    Matrix result(t.a.rows(), t.a.cols());
    for (Eigen::Index k = 0; k < t.a.size();) {
        t.task.checkpoint();
        const Eigen::Index end = std::min<Eigen::Index>(t.a.size(), k + kCheckedWork);
        for (; k < end; ++k) result.data()[k] = f(t.a.data()[k]);
    }
    return result;
}

// f(a[r, c], b[r, c]); b may be a column or a row.
template <typename F>
Matrix zip(const Matrix& a, const Matrix& b, const Task& task, F f) {
    Matrix result(a.rows(), a.cols());
    const bool column = b.cols() == 1 && a.cols() != 1, row = b.rows() == 1 && a.rows() != 1;
    Pace pace(task);
    for (Eigen::Index r = 0; r < a.rows(); ++r)
        for (Eigen::Index c = 0; c < a.cols();) {
            const Eigen::Index begin = c, end = std::min<Eigen::Index>(a.cols(), c + kCheckedWork);
            for (; c < end; ++c) result(r, c) = f(a(r, c), b(row ? 0 : r, column ? 0 : c));
            pace.did(end - begin);
        }
    return result;
}
template <typename F>
Matrix zip(const ValueTerms& t, F f) {
    return zip(t.a, t.b, t.task, f);
}

template <typename F>
Matrix fold_rows(const ValueTerms& t, double start, F f) {
    Matrix result(t.a.rows(), 1);
    Pace pace(t.task);
    for (Eigen::Index r = 0; r < t.a.rows(); ++r) {
        double value = start;
        for (Eigen::Index c = 0; c < t.a.cols(); ++c) value = f(value, t.a(r, c));
        result(r, 0) = value;
        pace.did(t.a.cols());
    }
    return result;
}

// std::max drops a NaN that stands second; a NaN has to be seen, so it wins here.
inline double max_of(double a, double b) { return std::isnan(a) || std::isnan(b) ? std::nan("") : std::max(a, b); }

// ---- elements of the operands

inline std::vector<Element> no_elements(const Expr&, Shape, int, int) { return {}; }
inline std::vector<Element> same_of_a(const Expr&, Shape, int r, int c) { return {{Element::A, r, c}}; }
inline std::vector<Element> same_of_both(const Expr&, Shape, int r, int c) {
    return {{Element::A, r, c}, {Element::B, r, c}};
}
inline std::vector<Element> row_of_a(const Expr&, Shape a, int r, int) {
    std::vector<Element> all;
    for (int k = 0; k < a.cols; ++k) all.push_back({Element::A, r, k});
    return all;
}

// ---- errors

inline ErrorArray exact(const ErrorTerms& t) { return ErrorArray::Zero(t.rows(), t.cols()); }
inline ErrorArray as_a(const ErrorTerms& t) { return t.Ea; }
// One rounding of a sum.
inline ErrorArray of_sum(const ErrorTerms& t) { return t.Ea + t.spread(t.Eb) + t.value(); }
// 1 / a
inline ErrorArray of_inverse(const ErrorTerms& t) {
    const ErrorArray value = t.value();
    return value * value * t.Ea + value;
}
// base^(a - b): an error of the exponent counts as much as the result is large; ln_base is 1 for e.
inline ErrorArray of_power_of_difference(const ErrorTerms& t, double ln_base) {
    const ErrorArray exponent = finite(t.a.array() - t.spread(t.b.array())).abs();
    return t.value() * (1 + ln_base * (exponent + t.Ea + t.spread(t.Eb))) + underflow(power_of(t.a));
}

// ---- formulas

inline std::string symbols_of_a(const Explainer& x, const Expr& e, Index r, Index c) { return x.symbols(e.a, r, c); }
inline std::string numbers_of_a(Explainer& x, const Expr& e, int r, int c) { return x.numbers(e.a, r, c); }
inline std::string reciprocal_symbols(const Explainer& x, const Expr& e, Index r, Index c) {
    return fmt::format("\\frac{{1}}{{{}}}", x.symbols(e.a, r, c));
}
inline std::string reciprocal_numbers(Explainer& x, const Expr& e, int r, int c) {
    return fmt::format("\\frac{{1}}{{{}}}", x.numbers(e.a, r, c));
}
// Where 0 stands for 1/0.
inline std::string inverse_numbers(Explainer& x, const Expr& e, int r, int c) {
    return x.value(e.a, r, c) == 0 ? "0" : reciprocal_numbers(x, e, r, c);
}
// base^(a - b)
inline std::string power_symbols(const Explainer& x, const Expr& e, Index r, Index c, const char* base) {
    return fmt::format("{}^{{{} - {}}}", base, x.symbols(e.a, r, c), x.subtrahend(e, r, c));
}
inline std::string power_numbers(Explainer& x, const Expr& e, int r, int c, const char* base) {
    return fmt::format("{}^{{{} - {}}}", base, x.numbers(e.a, r, c), x.subtrahend(e, r, c));
}

// ---- sentences

inline Sentence a_in_row(Teller& t, int index, int r) { return t.row(t.expr(index).a, r); }
inline Sentence reciprocal_in_row(Teller& t, int index, int r) {
    const Sentence of = t.factor(t.expr(index).a, r);
    return say("1/{}", "1/{}", of);
}
inline Sentence inverse_in_row(Teller& t, int index, int r) {
    const int of = t.expr(index).a;
    if (t.value(of, r) != 0) return reciprocal_in_row(t, index, r);
    const std::string instead = t.node(index, r), zero = t.node(of, r);
    return say("{} (in place of 1/{})", "{}（代替 1/{}）", instead, zero);
}
// base^(a - b). A column rescales what was kept relative to a: its value, and why.
inline Sentence power_in_row(Teller& t, int index, int r, const char* base) {
    const Expr& e = t.expr(index);
    if (!t.is_column(index) || t.only_names()) {
        const std::string a = in_formula(t.names(e.a, r)), b = t.is_column(e.b) && !t.only_names()
                                                                   ? wrapped(t.power(e.b, r))
                                                                   : in_formula(t.names(e.b, r));
        return fmt::format("${}^{{{} - {}}}$", base, a, b);
    }
    const int row_of_b = t.expr(e.b).rows == 1 ? 0 : r;
    const double a = t.value(e.a, r), b = t.value(e.b, row_of_b);
    const std::string value = t.node(index, r);
    if (a == -kInf) return say("{} (nothing there)", "{}（还没有内容）", value);
    if (a == b) return say("{} (the same maximum)", "{}（最大值没变）", value);
    const std::string from = t.power(e.a, r), to = wrapped(t.power(e.b, row_of_b));
    if (!(a < b)) return say("{0} (${1}^{{{2} - {3}}}$)", "{0}（${1}^{{{2} - {3}}}$）", value, base, from, to);
    return say("{0} (${1}^{{{2} - {3}}}$: the maximum is higher)", "{0}（${1}^{{{2} - {3}}}$：最大值更高了）", value,
               base, from, to);
}
inline Sentence weights_told(Teller& t, int index, int r, const char* base) {
    if (t.is_column(index)) return told_by_formula(t, index, r);
    const std::string name = t.target_name();
    const Sentence power = power_in_row(t, index, r, base);
    const Expr& e = t.expr(index);
    int largest = 0;
    for (int c = 1; c < e.cols; ++c)
        if (!(t.value(index, r, largest) >= t.value(index, r, c))) largest = c;
    return say("{} = {}, weights up to {}", "{} = {}，权重最大为 {}", name, power, t.cell(r, largest));
}
// What was kept shrinks.
inline bool rescales(Teller& t, int index, int r) {
    const double factor = t.is_column(index) ? t.value(index, r) : 1;
    return factor > 0 && factor < 1;
}

// ---- what happened

constexpr Text kSumOverflows{"a sum overflows {}", "求和溢出了 {}"};
constexpr Text kPowerOverflows{"an exponential overflows {}", "指数运算溢出了 {}"};
constexpr Text kDivisionByZero{"a division by zero or by almost zero", "除数为零或几乎为零"};

}  // namespace flashstep::rules
