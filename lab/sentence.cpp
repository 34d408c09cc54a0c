// Puts a step's sentence together.
#include "lab/sentence.h"

#include <algorithm>

#include "core/ops/operation.h"
#include "core/say.h"
#include "lab/format.h"

namespace flashstep {
namespace {

class Speaker {
  public:
    Speaker(const Algorithm& algorithm, const Trace& trace, const StepView& view, int row)
        : algorithm_(algorithm),
          trace_(trace),
          view_(view),
          step_(trace.steps[view.step]),
          teller_(trace, algorithm, view.step),
          row_(row >= 0 ? row : telling_row()) {}

    StepSentence speak() {
        if (view_.step == 0) return inputs();
        if (line_kind() == LineKind::Loop) say_of_loop();
        const auto& changes = view_.changes;
        for (std::size_t k = 0; k < changes.size();) {
            // All blocks of a matrix are filled in one step.
            std::size_t end = k + 1;
            std::int64_t bytes = changes[k].bytes;
            if (changes[k].kind == Change::Kind::Init)
                for (; end < changes.size() && changes[end].kind == Change::Kind::Init &&
                       changes[end].matrix == changes[k].matrix;
                     ++end)
                    bytes += changes[end].bytes;
            say_of_change(static_cast<int>(k), bytes);
            k = end;
        }
        if (out_.clauses.empty()) say_of_barrier();
        return std::move(out_);
    }

  private:
    const Tensor& tensor(int index) const { return trace_.tensors[index]; }
    std::string matrix_name(int matrix) const { return "$" + tex_name(tensor(matrix).name) + "$"; }
    std::string tile_name(int tile, Use use) const {
        return "$" + spelled(algorithm_, step_.line, tensor(tile).name, use) + "$";
    }
    std::string bytes(int matrix, std::int64_t amount) { return teller_.bytes(matrix, amount, bytes_text(amount)); }
    int expr_of(int version) const { return trace_.versions[version].expr; }

    LineKind line_kind() const {
        const auto found = std::ranges::find(algorithm_.lines, step_.line, &PseudoLine::number);
        return found == algorithm_.lines.end() ? LineKind::Step : found->kind;
    }

    // The row in which a maximum rises or something is rescaled; else the first.
    int telling_row() {
        int rows = 0;
        for (const Change& change : view_.changes)
            if (change.version >= 0) rows = std::max(rows, trace_.versions[change.version].rows);
        for (int r = 0; r < rows; ++r)
            for (const Change& change : view_.changes)
                if (change.version >= 0 && change.kind != Change::Kind::Load &&
                    r < trace_.versions[change.version].rows && teller_.is_telling(expr_of(change.version), r))
                    return r;
        return 0;
    }

    void add(Clause clause) {
        clause.figures = teller_.figures();
        teller_.forget_figures();
        out_.clauses.push_back(std::move(clause));
    }

    StepSentence inputs() {
        Sentence names;
        for (int t = 0; t < static_cast<int>(trace_.tensors.size()); ++t) {
            if (tensor(t).space != Space::Hbm || tensor(t).role != Role::Input) continue;
            names = names.empty() ? Sentence(matrix_name(t), matrix_name(t))
                                  : say("{}, {}", "{}、{}", names, matrix_name(t));
        }
        add({.where = {},
             .text = say("{} are in HBM; nothing has moved yet", "{} 在 HBM 中，还没有搬运任何数据", names)});
        return std::move(out_);
    }

    // Rows of a block: "rows 3-4 of K", or an element of a row.
    Sentence place(int matrix, int block) {
        const Tensor& m = tensor(matrix);
        const std::string name = matrix_name(matrix);
        if (block < 0 || m.blocks() == 1) return say("all of {}", "整个 {}", name);
        const Trace::Range at = trace_.block_range(matrix, block);
        const Sentence rows = span(at.row0, at.rows);
        if (at.cols == m.cols)
            return at.rows == 1 ? say("row {} of {}", "{1} 的第 {0} 行", rows, name)
                                : say("rows {} of {}", "{1} 的第 {0} 行", rows, name);
        const Sentence cols = span(at.col0, at.cols);
        return say("row {}, column {} of {}", "{2} 的第 {0} 行第 {1} 列", rows, cols, name);
    }
    // "3", "3–4"
    Sentence span(int first, int count) {
        if (count == 1) return teller_.count(first + 1);
        const std::string from = teller_.count(first + 1), to = teller_.count(first + count);
        return from + "–" + to;
    }

    void say_of_loop() {
        const bool inner = step_.i >= 0 && step_.j >= 0;
        if (step_.w >= 0) {
            add({.where = {}, .text = say("warp {} takes its turn", "轮到 warp {}", teller_.count(step_.w + 1))});
            return;
        }
        const bool by_row = inner ? !step_.rows_outer : step_.i >= 0;
        const int index = by_row ? step_.i : step_.j;
        const Problem& p = trace_.problem;
        const Blocks blocks = blocks_of(by_row);
        const int count = (blocks.total + blocks.size - 1) / blocks.size;
        const int first = index * blocks.size, rows = std::min(blocks.size, blocks.total - first);
        const std::string at = teller_.count(index + 1), of = teller_.count(count);
        Sentence text;
        if (blocks.size == 1) {
            text = by_row ? say("row {} of {}", "第 {} 行，共 {} 行", at, of)
                          : say("element {} of {}", "第 {} 个元素，共 {} 个", at, of);
        } else {
            const Sentence range = span(first, rows);
            text = by_row
                       ? say("row block {} of {}, rows {}", "第 {} 个行块，共 {} 个：第 {} 行", at, of, range)
                       : say("key block {} of {}, keys {}", "第 {} 个 key 块，共 {} 个：第 {} 个 key", at, of, range);
        }
        // What the mask lets the inner loop leave out.
        const int hidden = inner && !by_row && blocks.size > 1 ? count - p.visible_blocks(step_.i) : 0;
        if (hidden > 0 && index == 0)
            text = say("{}; of these blocks the mask hides {} from the rows, which are skipped",
                       "{}；其中 {} 个块被掩码完全屏蔽，直接跳过", text, teller_.count(hidden));
        add({.where = {}, .text = text});
    }

    struct Blocks {
        int size, total;
    };
    // How the matrices are cut over which a loop runs.
    Blocks blocks_of(bool by_row) const {
        for (const Tensor& t : trace_.tensors) {
            if (t.space != Space::Hbm || t.kind == TensorKind::Mask) continue;
            if (by_row && t.per == PerHead::Query) return {t.block_rows, t.rows};
            if (!by_row && t.per == PerHead::KeyValue) return {t.block_rows, t.rows};
            if (!by_row && t.block_cols < t.cols) return {t.block_cols, t.cols};
        }
        return {1, 1};
    }

    void say_of_barrier() {
        add({.where = {},
             .text = say("every warp of the thread block waits here until all have come",
                         "线程块中的所有 warp 在此等待，直到全部到齐")});
    }

    void say_of_change(int index, std::int64_t amount) {
        const Change& change = view_.changes[index];
        Clause clause{.where = {}, .text = {}, .change = index};
        switch (change.kind) {
            case Change::Kind::Load:
                clause.where = {"From HBM", "从 HBM 读"};
                clause.text = text_of_load(change, amount);
                break;
            case Change::Kind::Store:
                clause.where = {"To HBM", "写入 HBM"};
                clause.text = text_of_store(change, amount, clause);
                break;
            case Change::Kind::Init:
                clause.where = {"In HBM", "HBM 中"};
                clause.text = say("{} is filled with {}, {}", "{} 全部填 {}，{}", matrix_name(change.matrix),
                                  teller_.number_of(expr_of(change.version)), bytes(change.matrix, amount));
                break;
            case Change::Kind::Write:
                tell(change, clause);
                break;
        }
        add(std::move(clause));
    }

    Sentence text_of_load(const Change& change, std::int64_t amount) {
        const Sentence from = place(change.matrix, change.block);
        if (change.tile < 0) return say("{}, {}", "{}，{}", from, bytes(change.matrix, amount));
        const std::string tile = tile_name(change.tile, Use::Result);
        const bool added = change.version < 0 || trace_.versions[change.version].tensor == change.matrix;
        if (added)  // it is read, added to and written back: no tile holds it
            return say("{}, {}", "{}，{}", from, bytes(change.matrix, amount));
        const int expr = expr_of(change.version);
        if (trace_.exprs[expr].op != Op::Leaf) {  // the block, and what a mistake adds to it
            teller_.tell_of(change.version);
            const Sentence loaded = teller_.names(expr, 0);
            return say("{} ← {} ({}), {}", "{} ← {}（{}），{}", tile, loaded, from, bytes(change.matrix, amount));
        }
        return say("{} ← {}, {}", "{} ← {}，{}", tile, from, bytes(change.matrix, amount));
    }

    // A library call's store is an assignment, too.
    Sentence text_of_store(const Change& change, std::int64_t amount, Clause& clause) {
        const Sentence to = place(change.matrix, change.block);
        const int expr = expr_of(change.version);
        teller_.tell_of(change.version);
        if (change.tile >= 0) {
            const Sentence value = teller_.names(expr, 0);
            return say("{} → {}, {}", "{} → {}，{}", value, to, bytes(change.matrix, amount));
        }
        const int row = row_within(change.version);
        clause.version = change.version, clause.row = row;
        const Sentence told = teller_.told(row);
        const std::string at = teller_.count(row + 1);
        return say("in row {} {}; all of it is {}", "第 {} 行：{}；整个矩阵 {}", at, told,
                   bytes(change.matrix, amount));
    }

    int row_within(int version) const { return row_ < trace_.versions[version].rows ? row_ : 0; }

    void tell(const Change& change, Clause& clause) {
        const Version& version = trace_.versions[change.version];
        const Expr& expr = trace_.exprs[version.expr];
        clause.version = change.version;
        clause.row = row_within(change.version);
        clause.aside = expr.op == Op::Leaf;
        teller_.tell_of(change.version);
        // What is the same in all rows, or moves them as they are, is not told of one.
        const bool whole = expr.op == Op::Fill || (version.cols > 1 && expr.a < 0);
        clause.text = teller_.told(clause.row);
        if (version.rows > 1 && !whole)
            clause.where = say("Row {}", "第 {} 行", teller_.count(clause.row + 1));
        else if (whole)
            clause.where = {"On chip", "片上"};
    }

    const Algorithm& algorithm_;
    const Trace& trace_;
    const StepView& view_;
    const Step& step_;
    Teller teller_;
    int row_;
    StepSentence out_;
};

Sentence capitalised(Sentence text) {
    if (!text.en.empty() && text.en[0] >= 'a' && text.en[0] <= 'z')
        text.en[0] = static_cast<char>(text.en[0] - 'a' + 'A');
    return text;
}

}  // namespace

Sentence StepSentence::of(const Clause& clause) const {
    if (clause.where.empty()) return say("{}.", "{}。", capitalised(clause.text));
    return say("{}: {}.", "{}：{}。", clause.where, clause.text);
}

Sentence StepSentence::whole() const {
    const bool only_asides = std::ranges::all_of(clauses, &Clause::aside);
    Sentence all;
    const Clause* before = nullptr;
    for (const Clause& clause : clauses) {
        if (clause.aside && !only_asides) continue;
        if (!before)
            all = clause.where.empty() ? capitalised(clause.text) : say("{}: {}", "{}：{}", clause.where, clause.text);
        else if (before->where == clause.where)
            all = say("{}; {}", "{}；{}", all, clause.text);
        else if (clause.where.empty())
            all = say("{}. {}", "{}。{}", all, capitalised(clause.text));
        else
            all = say("{}. {}: {}", "{}。{}：{}", all, clause.where, clause.text);
        before = &clause;
    }
    return say("{}.", "{}。", all);
}

StepSentence sentence_of(const Algorithm& algorithm, const Trace& trace, const StepView& view, int row) {
    return Speaker(algorithm, trace, view, row).speak();
}

}  // namespace flashstep
