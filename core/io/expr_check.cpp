// Shapes and sizes of expression trees.
#include "core/io/expr_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/ops/operation.h"

namespace flashstep::io {
namespace {

// An explanation writes a tree out, and up to 8 terms of every sum in it. The trees of all lines of all algorithms are
// far smaller; a damaged one must not grow without end.
constexpr int kMostDepth = 64;
constexpr std::int64_t kMostTerms = 1 << 16, kTermsOfSum = 8;

struct Size {
    int depth = 1;
    std::int64_t terms = 1;
};

class Checker {
  public:
    Checker(const Trace& trace, const Refuse& refuse) : t_(trace), refuse_(refuse), sizes_(trace.exprs.size()) {}

    void check() {
        most_elements_ = 64 * static_cast<std::int64_t>(t_.values.size()) + 4096;
        for (std::size_t k = 0; k < t_.exprs.size(); ++k) expr(k);
    }

  private:
    void need(bool ok, std::size_t k, std::string_view expected, std::string_view found) const {
        if (!ok) refuse_(Record::Expr, k, fmt::format("expected {}, found {}", expected, found));
    }
    void need(bool ok, std::size_t k, std::string_view expected, std::int64_t found) const {
        if (!ok) need(false, k, expected, std::to_string(found));
    }

    // An operand was made before; what is given has a version, and is read through a leaf.
    const Expr& operand(std::size_t k, int index) const {
        need(index >= 0 && index < static_cast<int>(k), k, "an operand that was made before", index);
        const Expr& e = t_.exprs[static_cast<std::size_t>(index)];
        need(e.op != Op::Input, k, "an operand with a value", "an input without its version");
        return e;
    }

    void expr(std::size_t k) {
        const Expr& e = t_.exprs[k];
        need(e.rows >= 1 && e.cols >= 1 && std::int64_t{e.rows} * e.cols <= most_elements_, k,
             fmt::format("a shape with 1 to {} elements", most_elements_), fmt::format("{} x {}", e.rows, e.cols));
        need(e.row0 >= 0 && e.row0 <= kMaxRows, k, "a first row from 0 up", e.row0);
        need(e.col0 >= 0 && e.col0 <= kMaxRows, k, "a first column from 0 up", e.col0);
        const Operation& operation = flashstep::operation(e.op);
        const int count = operation.operands;
        if (count < 1) need(e.a == -1, k, "no operand", e.a);
        if (count < 2) need(e.b == -1, k, "no second operand", e.b);
        if (e.op == Op::Leaf)
            leaf(k);
        else
            need(e.version == -1, k, "no version", e.version);
        if (count == 0) return;
        const Expr& a = operand(k, e.a);
        const Expr& b = count == 2 ? operand(k, e.b) : a;
        need(operation.fits(e, a, b), k, "operands whose shapes fit the operation",
             fmt::format("{} x {} and {} x {} for {} x {}", a.rows, a.cols, b.rows, b.cols, e.rows, e.cols));

        const Size& left = sizes_[static_cast<std::size_t>(e.a)];
        const Size right = count == 2 ? sizes_[static_cast<std::size_t>(e.b)] : Size{0, 0};
        sizes_[k].depth = 1 + std::max(left.depth, right.depth);
        sizes_[k].terms = 1 + (operation.many_terms ? kTermsOfSum : 1) * (left.terms + right.terms);
        need(sizes_[k].depth <= kMostDepth, k, fmt::format("a tree at most {} deep", kMostDepth), "a deeper one");
        need(sizes_[k].terms <= kMostTerms, k, fmt::format("a tree of at most {} terms", kMostTerms), sizes_[k].terms);
    }

    // A leaf is made after its version, and that after its expression: no value depends on itself.
    void leaf(std::size_t k) const {
        const Expr& e = t_.exprs[k];
        need(e.version >= 0 && e.version < static_cast<int>(t_.versions.size()), k,
             fmt::format("one of {} versions", t_.versions.size()), e.version);
        const Version& v = t_.versions[static_cast<std::size_t>(e.version)];
        need(v.rows == e.rows && v.cols == e.cols, k, fmt::format("the shape of its version, {} x {}", v.rows, v.cols),
             fmt::format("{} x {}", e.rows, e.cols));
        need(v.expr < static_cast<int>(k), k, "a version of an expression before this one", v.expr);
    }

    const Trace& t_;
    const Refuse& refuse_;
    std::vector<Size> sizes_;
    std::int64_t most_elements_ = 0;
};

}  // namespace

void check_exprs(const Trace& trace, const Refuse& refuse) { Checker(trace, refuse).check(); }

}  // namespace flashstep::io
