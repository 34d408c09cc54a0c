// The rules of a trace, record by record.
#include "core/io/trace_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/io/expr_check.h"

namespace flashstep::io {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 62;
constexpr std::int64_t kMostElements = std::int64_t{1} << 28;  // of one matrix
constexpr int kMostWarps = 1 << 10;
constexpr int kMostTensors = 1 << 12;

// What is allocated for a matrix or for its history may be this much more than what was written to it: a trace writes
// nearly all of its matrices, a damaged one must not ask for the whole memory.
constexpr std::int64_t at_most(std::int64_t written) { return 64 * written + 4096; }

class Checker {
  public:
    Checker(const Trace& trace, const Refuse& refuse) : t_(trace), refuse_(refuse) {}

    void check() {
        head();
        for (std::size_t k = 0; k < t_.tensors.size(); ++k) tensor(k);
        for (std::size_t k = 0; k < t_.versions.size(); ++k) version(k);
        sizes();
        check_exprs(t_, refuse_);
        for (std::size_t k = 0; k < t_.steps.size(); ++k) step(k);
        lifetimes();
    }

  private:
    template <typename... Args>
    void need(bool ok, Record record, std::size_t index, fmt::format_string<Args...> format, Args&&... args) const {
        if (!ok) refuse_(record, index, fmt::format(format, std::forward<Args>(args)...));
    }
    // low <= value <= high
    void range(Record record, std::size_t index, std::string_view what, std::int64_t value, std::int64_t low,
               std::int64_t high) const {
        need(low <= value && value <= high, record, index, "expected {} from {} to {}, found {}", what, low, high,
             value);
    }
    template <typename Items>
    static std::int64_t last(const Items& items) {
        return static_cast<std::int64_t>(items.size()) - 1;
    }

    void head() {
        algorithm_ = find_algorithm(t_.algorithm);
        need(algorithm_, Record::Head, 0, "expected the id of an algorithm, found '{}'", t_.algorithm);
        try {
            validate(t_.problem);
        } catch (const Error& error) { refuse_(Record::Head, 0, fmt::format("the problem: {}", error.what())); }
        range(Record::Head, 0, "bytes of inputs", t_.memory.inputs, 0, kMostBytes);
        range(Record::Head, 0, "bytes of outputs", t_.memory.outputs, 0, kMostBytes);
        range(Record::Head, 0, "bytes of extra matrices", t_.memory.extra, 0, kMostBytes);
        range(Record::Head, 0, "bytes of the SRAM peak", t_.sram_peak, 0, kMostBytes);
        range(Record::Head, 0, "a number of matrices and tiles", last(t_.tensors) + 1, 1, kMostTensors);
        need(t_.steps.size() >= 2, Record::Head, 0, "expected at least 2 steps, found {}", t_.steps.size());
        need(t_.lifetimes.size() == t_.tensors.size(), Record::Head, 0, "expected lifetimes of {} tiles, found {}",
             t_.tensors.size(), t_.lifetimes.size());
    }

    void tensor(std::size_t k) const {
        const Tensor& x = t_.tensors[k];
        const auto in = [&](std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
            range(Record::Tensor, k, what, value, low, high);
        };
        need(!x.name.empty() && x.name.find_first_of(" \"'\\{}$") == std::string::npos, Record::Tensor, k,
             "expected a name of letters, digits and _, found '{}'", x.name);
        need(t_.find(x.name, x.space) == static_cast<int>(k), Record::Tensor, k, "expected one tensor called {}",
             x.name);
        in("rows", x.rows, 1, kMaxRows);
        in("columns", x.cols, 1, kMaxRows);
        in("bytes of an element", x.element_bytes, 1, 8);
        if (x.space == Space::Hbm) {
            in("rows of a block", x.block_rows, 1, kMaxRows);
            in("columns of a block", x.block_cols, 1, kMaxRows);
            in("elements of a matrix", std::int64_t{x.rows} * x.cols, 1, kMostElements);
            need(!x.registers, Record::Tensor, k, "expected a matrix in HBM, found one in registers");
        } else {
            in("rows of a block of a tile", x.block_rows, 0, 0);
            in("columns of a block of a tile", x.block_cols, 0, 0);
        }
    }

    std::int64_t copies(const Tensor& x) const {
        const Problem& p = t_.problem;
        if (x.space == Space::Sram || x.per == PerHead::Shared) return 1;
        return std::int64_t{p.batch} * (x.per == PerHead::KeyValue ? p.kv_heads : p.heads);
    }

    void version(std::size_t k) const {
        const Version& v = t_.versions[k];
        const auto in = [&](std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
            range(Record::Version, k, what, value, low, high);
        };
        in("a step", v.step, k > 0 ? t_.versions[k - 1].step : 0, last(t_.steps));
        in("a tensor", v.tensor, 0, last(t_.tensors));
        const Tensor& x = t_.tensors[static_cast<std::size_t>(v.tensor)];
        in("a copy", v.copy, 0, copies(x) - 1);
        if (x.space == Space::Hbm) {
            in("a block", v.block, -1, x.blocks() - 1);
            const Trace::Range block = t_.block_range(v.tensor, v.block);
            in("rows of a block", v.rows, block.rows, block.rows);
            in("columns of a block", v.cols, block.cols, block.cols);
        } else {
            in("a block of a tile", v.block, 0, 0);
            in("rows of a tile", v.rows, 1, x.rows);
            in("columns of a tile", v.cols, 1, x.cols);
        }
        in("an expression", v.expr, 0, last(t_.exprs));
        const Expr& e = t_.exprs[static_cast<std::size_t>(v.expr)];
        need(e.rows == v.rows && e.cols == v.cols, Record::Version, k,
             "expected the shape of its expression, {} x {}, found {} x {}", e.rows, e.cols, v.rows, v.cols);
    }

    // Sizes of tensors and of the problem against what was written.
    void sizes() const {
        struct Written {
            std::int64_t versions = 0, elements = 0, copies = 0, rows = 0, cols = 0;
        };
        std::vector<Written> all(t_.tensors.size());
        for (const Version& v : t_.versions) {
            Written& w = all[static_cast<std::size_t>(v.tensor)];
            ++w.versions;
            w.elements += std::int64_t{v.rows} * v.cols;
            w.copies = std::max<std::int64_t>(w.copies, v.copy + 1);
            w.rows = std::max<std::int64_t>(w.rows, v.rows), w.cols = std::max<std::int64_t>(w.cols, v.cols);
        }
        bool n = false, nk = false;
        for (std::size_t k = 0; k < all.size(); ++k) {
            const Tensor& x = t_.tensors[k];
            const Written& w = all[k];
            if (x.space == Space::Sram) {  // as large as its largest version
                range(Record::Tensor, k, "rows of a tile", x.rows, w.rows, w.rows);
                range(Record::Tensor, k, "columns of a tile", x.cols, w.cols, w.cols);
                continue;
            }
            range(Record::Tensor, k, "elements of a matrix", std::int64_t{x.rows} * x.cols, 1, at_most(w.elements));
            range(Record::Tensor, k, "blocks of all copies", w.copies * (x.blocks() + std::int64_t{1}), 0,
                  at_most(w.versions));
            n = n || x.rows == t_.problem.n;
            nk = nk || x.rows == t_.problem.nk || x.cols == t_.problem.nk;
        }
        need(n, Record::Head, 0, "expected a matrix with n = {} rows, found none", t_.problem.n);
        need(nk, Record::Head, 0, "expected a matrix with nk = {} rows or columns, found none", t_.problem.nk);
    }

    void step(std::size_t k) const {
        const Step& s = t_.steps[k];
        const Step before = k > 0 ? t_.steps[k - 1] : Step{};
        const auto in = [&](std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
            range(Record::Step, k, what, value, low, high);
        };
        if (k == 0)
            in("the line of step 0", s.line, 0, 0);
        else
            need(is_line(s.line), Record::Step, k, "expected a line of {}, found {}", t_.algorithm, s.line);
        const int most = std::max(t_.problem.n, t_.problem.nk);
        in("i", s.i, -1, most - 1);
        in("j", s.j, -1, most - 1);
        in("the index of a warp", s.w, -1, kMostWarps - 1);
        const int heads = t_.problem.total_heads();
        const bool is_last = k + 1 == t_.steps.size();
        in("a head", s.head, is_last ? heads - 1 : before.head, heads - 1);
        in("the first movement", s.touch_begin, before.touch_end, before.touch_end);
        in("the end of the movements", s.touch_end, is_last ? last(t_.touches) + 1 : s.touch_begin,
           last(t_.touches) + 1);
        in("the first version", s.version_begin, before.version_end, before.version_end);
        in("the end of the versions", s.version_end, is_last ? last(t_.versions) + 1 : s.version_begin,
           last(t_.versions) + 1);
        in("bytes on chip", s.sram_bytes, 0, kMostBytes);
        totals(k, s.total, before.total);
        for (int v = s.version_begin; v < s.version_end; ++v)
            range(Record::Version, static_cast<std::size_t>(v), "its step",
                  t_.versions[static_cast<std::size_t>(v)].step, static_cast<int>(k), static_cast<int>(k));
        for (int m = s.touch_begin; m < s.touch_end; ++m) touch(static_cast<std::size_t>(m), k);
    }

    bool is_line(int line) const {
        return std::any_of(algorithm_->lines.begin(), algorithm_->lines.end(),
                           [&](const PseudoLine& each) { return each.number == line && each.kind != LineKind::Text; });
    }

    // Totals never fall.
    void totals(std::size_t k, const Traffic& now, const Traffic& before) const {
        for (const auto field :
             {&Traffic::hbm_read, &Traffic::hbm_write, &Traffic::hbm_init, &Traffic::sram_read, &Traffic::sram_write,
              &Traffic::flops_matmul, &Traffic::flops_other, &Traffic::flops_exp, &Traffic::barriers})
            range(Record::Step, k, "a running total", now.*field, before.*field, kMostBytes);
    }

    void touch(std::size_t k, std::size_t at_step) const {
        const Touch& m = t_.touches[k];
        const auto in = [&](std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high) {
            range(Record::Touch, k, what, value, low, high);
        };
        in("a tensor", m.tensor, 0, last(t_.tensors));
        const Tensor& x = t_.tensors[static_cast<std::size_t>(m.tensor)];
        const bool on_chip = m.kind == TouchKind::Read || m.kind == TouchKind::Write;
        need((x.space == Space::Sram) == on_chip, Record::Touch, k, "expected {}, found {}",
             on_chip ? "a tile" : "a matrix in HBM", x.name);
        in("a block", m.block, -1, on_chip ? -1 : x.blocks() - 1);
        in("a tile to move to or from", m.partner, -1, on_chip ? -1 : last(t_.tensors));
        need(m.partner < 0 || t_.tensors[static_cast<std::size_t>(m.partner)].space == Space::Sram, Record::Touch, k,
             "expected a tile to move to or from, found a matrix in HBM");
        in("bytes", m.bytes, 0, kMostBytes / (last(t_.touches) + 1));  // their sums do not overflow
        in("a version", m.version, 0, last(t_.versions));
        const Version& v = t_.versions[static_cast<std::size_t>(m.version)];
        need(v.tensor == m.tensor, Record::Touch, k, "expected a version of {}, found one of {}", x.name,
             t_.tensors[static_cast<std::size_t>(v.tensor)].name);
        in("a version of this step or before; its step", v.step, 0, static_cast<std::int64_t>(at_step));
    }

    void lifetimes() const {
        std::size_t record = 0;
        for (std::size_t k = 0; k < t_.lifetimes.size(); ++k) {
            const auto& all = t_.lifetimes[k];
            need(all.empty() || t_.tensors[k].space == Space::Sram, Record::Lifetime, record,
                 "expected no lifetime of {}, a matrix in HBM", t_.tensors[k].name);
            for (std::size_t life = 0; life < all.size(); ++life, ++record) {
                range(Record::Lifetime, record, "the first step of a tile", all[life].first,
                      life > 0 ? all[life - 1].first : 1, last(t_.steps));
                range(Record::Lifetime, record, "the last step of a tile", all[life].last, all[life].first,
                      last(t_.steps));
            }
        }
    }

    const Trace& t_;
    const Refuse& refuse_;
    const Algorithm* algorithm_ = nullptr;
};

}  // namespace

void check_trace(const Trace& trace, const Refuse& refuse) { Checker(trace, refuse).check(); }

}  // namespace flashstep::io
