// Online softmax: m and l in one pass, the probabilities in a second (Milakov and Gimelshein 2018, Algorithm 3).
#include "core/algorithms/bodies.h"

namespace flashstep {
namespace {

// clang-format off
constexpr PseudoLine kLines[] = {
    {1, 0, LineKind::Loop, R"(for $1 \le i \le N$ do (row $i$ of $X$))",
                           R"(对 $1 \le i \le N$ 循环（$X$ 的第 $i$ 行）)"},
    {2, 1, LineKind::Step, R"($m \leftarrow -\infty$, $l \leftarrow 0$)"},
    {3, 1, LineKind::Loop, R"(for $1 \le j \le N_k$ do (first pass))", R"(对 $1 \le j \le N_k$ 循环（第一遍）)"},
    {4, 2, LineKind::Step, R"(load $x$; $m \leftarrow \max(m_{old}, x)$)",
                           R"(加载 $x$；$m \leftarrow \max(m_{old}, x)$)"},
    {5, 2, LineKind::Step, R"($l \leftarrow l e^{m_{old} - m} + e^{x - m}$)"},
    {6, 1, LineKind::Loop, R"(for $1 \le j \le N_k$ do (second pass))", R"(对 $1 \le j \le N_k$ 循环（第二遍）)"},
    {7, 2, LineKind::Step, R"(load $x$; $p \leftarrow e^{x - m} / l$; write $p$)",
                           R"(加载 $x$；$p \leftarrow e^{x - m} / l$；写入 $p$)"},
    {8, 0, LineKind::Text, R"(return $P$)", R"(返回 $P$)"},
};

void run(Machine& m_, const Problem& p_) {
    At at{m_};
    Hbm X{m_, "X", Scores, Shape{p_.n, p_.nk}, 1, Role::Input, PerHead::Query, 1};
    Hbm P{m_, "P", Weights, Shape{p_.n, p_.nk}, 1, Role::Output, PerHead::Query, 1};

    for (int i : at.each_i(1, p_.n)) {
        Sram x{m_, "x", Scores}, m{m_, "m", Maximum}, m_old{m_, "m_old", Maximum}, l{m_, "l", Sum}, p{m_, "p", Weights};
        at(2);  m = fill(m_, Shape{1, 1}, -kInf);  l = zeros(m_, Shape{1, 1});
        for (int j : at.each_j(3, p_.nk)) {
            at(4);  x = X.load(i, j);  m_old = m;  m = max(m_old, x);
            at(5);  l = diag(rescale(m_old, m)) * l + exp_diff(x, m);
        }
        for (int j : at.each_j(6, p_.nk)) {
            at(7);  x = X.load(i, j);  p = exp_diff(x, m) / l;  P.store(i, j, p);
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
    form.flops_other = scores * (1 + 6 + 3);  // max; rescaling, multiply, subtract, exp, add; subtract, exp, divide
    form.flops_exp = scores * 3;
    return form;
}

}  // namespace

struct OnlineSoftmax {
    static constexpr Algorithm row{
        .id = "online_softmax",
        .title = {"Online softmax: two passes", "在线 softmax：读两遍"},
        .source = "Online normalizer, Algorithm 3",
        .lines = kLines,
        .run = run,
        .closed_form = closed_form,
        .reads_scores = true,
        .yardstick = "safe_softmax",
    };
};
template const Algorithm& row_of<OnlineSoftmax>();

}  // namespace flashstep
