// Naive softmax: no maximum is subtracted, so that large scores overflow (Milakov and Gimelshein 2018, Algorithm 1).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    {1, 0, LineKind::Loop, R"(for $1 \le i \le N$ do (row $i$ of $X$))",
                           R"(对 $1 \le i \le N$ 循环（$X$ 的第 $i$ 行）)"},
    {2, 1, LineKind::Step, R"($l \leftarrow 0$)"},
    {3, 1, LineKind::Loop, R"(for $1 \le j \le N_k$ do (first pass))", R"(对 $1 \le j \le N_k$ 循环（第一遍）)"},
    {4, 2, LineKind::Step, R"(load $x$; $l \leftarrow l + e^{x}$)", R"(加载 $x$；$l \leftarrow l + e^{x}$)"},
    {5, 1, LineKind::Loop, R"(for $1 \le j \le N_k$ do (second pass))", R"(对 $1 \le j \le N_k$ 循环（第二遍）)"},
    {6, 2, LineKind::Step, R"(load $x$; $p \leftarrow e^{x} / l$; write $p$)",
                           R"(加载 $x$；$p \leftarrow e^{x} / l$；写入 $p$)"},
    {7, 0, LineKind::Text, R"(return $P$)", R"(返回 $P$)"},
};

void run(Machine& m_, const Problem& p_) {
    At at{m_};
    Hbm X{m_, "X", Scores, Shape{p_.n, p_.nk}, 1, Role::Input, PerHead::Query, 1};
    Hbm P{m_, "P", Weights, Shape{p_.n, p_.nk}, 1, Role::Output, PerHead::Query, 1};

    for (int i : at.each_i(1, p_.n)) {
        Sram x{m_, "x", Scores}, l{m_, "l", Sum}, p{m_, "p", Weights};
        at(2);  l = zeros(m_, Shape{1, 1});
        for (int j : at.each_j(3, p_.nk)) {
            at(4);  x = X.load(i, j);  l = l + exp(x);
        }
        for (int j : at.each_j(5, p_.nk)) {
            at(6);  x = X.load(i, j);  p = exp(x) / l;  P.store(i, j, p);
        }
    }
}
// clang-format on

// 2N elements read and N written per row of N.
ClosedForm closed_form(const Problem& p) {
    ClosedForm form;
    const std::int64_t scores = std::int64_t{p.total_heads()} * p.n * p.nk, bytes = element_bytes(p.dtype);
    form.hbm["X"].read = 2 * scores * bytes;
    form.hbm["P"].write = scores * bytes;
    form.flops_other = scores * (2 + 2);  // exp, add; exp, divide
    form.flops_exp = scores * 2;
    return form;
}

}  // namespace

struct NaiveSoftmax {
    static constexpr Algorithm row{
        .id = "naive_softmax",
        .title = {"Naive softmax: overflows", "朴素 softmax：会溢出"},
        .source = "Online normalizer, Algorithm 1",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .reads_scores = true,
        .yardstick = "safe_softmax",
    };
};
template const Algorithm& row_of<NaiveSoftmax>();

}  // namespace flashstep
