// A trace as text.
#include "cli/walkthrough.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/first_non_finite.h"
#include "core/plain_formula.h"
#include "lab/sentence.h"
#include "lab/step_view.h"

namespace flashstep::cli {
namespace {

constexpr Eigen::Index kShown = 8;  // rows and columns of a matrix that are printed

std::string number(double value) {
    if (value == 0) return "0";
    return fmt::format("{:.5g}", value);
}

// Display width of UTF-8 text without wide characters: its code points, without combining marks.
std::size_t width(std::string_view text) {
    std::size_t count = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const auto byte = static_cast<unsigned char>(text[at]);
        const bool combining =
            byte == 0xcc || (byte == 0xcd && at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xb0);
        if ((byte & 0xc0) != 0x80 && !combining) ++count;
    }
    return count;
}

std::string padded(const std::string& text, std::size_t columns) {
    return text + std::string(columns > width(text) ? columns - width(text) : 0, ' ');
}

using Columns = std::vector<std::pair<std::string, std::vector<std::string>>>;  // heading, rows

class Page {
  public:
    template <typename... Args>
    void line(fmt::format_string<Args...> format, Args&&... args) {
        std::string text = fmt::format(format, std::forward<Args>(args)...);
        text.erase(text.find_last_not_of(' ') + 1);
        text_ += text + "\n";
    }
    // Blocks of rows side by side, each under its heading.
    void columns(const Columns& blocks, std::size_t indent) {
        std::size_t rows = 0;
        for (const auto& [head, lines] : blocks) rows = std::max(rows, lines.size());
        for (std::size_t row = 0; row < rows + 1; ++row) {
            std::string text(indent, ' ');
            for (const auto& [head, lines] : blocks) {
                std::size_t wide = width(head);
                for (const std::string& l : lines) wide = std::max(wide, width(l));
                text += padded(row == 0 ? head : row <= lines.size() ? lines[row - 1] : "", wide + 4);
            }
            line("{}", text);
        }
    }
    std::string take() { return std::move(text_); }

  private:
    std::string text_;
};

std::string shape(Eigen::Index rows, Eigen::Index cols) { return fmt::format("({} x {})", rows, cols); }

class Walk {
  public:
    Walk(const Algorithm& algorithm, const Trace& trace, const KernelSide* kernel)
        : algorithm_(algorithm), trace_(trace), kernel_(kernel) {}

    std::string print() {
        heading();
        int head = 0;
        for (int k = 1; k <= trace_.last_step(); ++k) {
            const Step& step = trace_.steps[static_cast<std::size_t>(k)];
            if (algorithm_.reads_scores && (step.head > 0 || step.i > 0)) break;
            if (step.head != head || (k == 1 && trace_.problem.total_heads() > 1)) {
                head = step.head;
                page_.line("==== batch {}, head {} ====", head / trace_.problem.heads + 1,
                           head % trace_.problem.heads + 1);
                page_.line("");
            }
            print_step(k);
        }
        footer();
        return page_.take();
    }

  private:
    void heading() {
        page_.line("{} ({})", algorithm_.title.en, algorithm_.source);
        page_.line("{}", problem_line(trace_.problem));
        if (kernel_) page_.line("beside it: {}", kernel_->label);
        page_.line("");
        page_.line("step 0: the inputs in HBM");
        Columns blocks;
        for (std::size_t t = 0; t < trace_.tensors.size(); ++t) {
            const Tensor& tensor = trace_.tensors[t];
            if (tensor.space != Space::Hbm || tensor.role != Role::Input) continue;
            const Matrix values = trace_.matrix_at(static_cast<int>(t), 0, 0).values;
            blocks.emplace_back(fmt::format("{} {}", tensor.name, shape(values.rows(), values.cols())),
                                matrix_rows(values));
        }
        page_.columns(blocks, 4);
        if (trace_.problem.total_heads() > 1) page_.line("    (of the first head)");
        page_.line("");
    }

    void print_step(int number_of_step) {
        const Step& step = trace_.steps[static_cast<std::size_t>(number_of_step)];
        std::string where;
        if (step.i >= 0) where += fmt::format("  i={}", step.i + 1);
        if (step.j >= 0) where += fmt::format(" j={}", step.j + 1);
        if (step.w >= 0) where += fmt::format(" warp {}", step.w + 1);
        page_.line("step {}  line {}{}  |  {}", number_of_step, step.line, where, text_of(step.line));
        const StepView view = view_of(trace_, number_of_step);
        page_.line("    {}", plain_line(sentence_of(algorithm_, trace_, view).whole().en));
        for (const Change& change : view.changes) print_move(change);
        for (int v = step.version_begin; v < step.version_end; ++v) print_write(v);
        flush_pending();
        page_.line("    HBM so far: {} bytes read, {} written{}", step.total.hbm_read, step.total.hbm_write,
                   trace_.sram_modelled ? fmt::format("; SRAM now: {} bytes", step.sram_bytes) : "");
        page_.line("");
    }

    std::string text_of(int line) const {
        for (const PseudoLine& pseudo : algorithm_.lines)
            if (pseudo.number == line) return plain_line(pseudo.tex().en);
        return {};
    }

    void print_move(const Change& change) {
        if (change.matrix < 0) return;
        const Tensor& matrix = trace_.tensors[static_cast<std::size_t>(change.matrix)];
        const std::string what =
            change.block < 0 ? matrix.name : fmt::format("{} block {}", matrix.name, block_text(matrix, change.block));
        const std::string tile =
            change.tile < 0 ? "the chip" : trace_.tensors[static_cast<std::size_t>(change.tile)].name;
        if (change.kind == Change::Kind::Load) page_.line("    load   {} -> {}, {} bytes", what, tile, change.bytes);
        if (change.kind == Change::Kind::Store) page_.line("    store  {} -> {}, {} bytes", tile, what, change.bytes);
        if (change.kind == Change::Kind::Init) page_.line("    fill   {}, {} bytes", what, change.bytes);
    }

    static std::string block_text(const Tensor& matrix, int block) {
        if (matrix.col_blocks() == 1) return fmt::format("{}", block + 1);
        return fmt::format("[{},{}]", block / matrix.col_blocks() + 1, block % matrix.col_blocks() + 1);
    }

    void print_write(int index) {
        const Version& version = trace_.versions[static_cast<std::size_t>(index)];
        const Matrix mirror = trace_.value(version);
        const std::string& name = trace_.tensors[static_cast<std::size_t>(version.tensor)].name;
        const bool compared = kernel_ && kernel_->comparison->by_version[static_cast<std::size_t>(index)] >= 0;
        const auto values = compared ? kernel_value(trace_, *kernel_->run, index) : std::nullopt;
        const std::string title = fmt::format("{} {}", name, shape(mirror.rows(), mirror.cols()));
        if (!values) {  // tiles without a kernel's side stand beside each other
            pending_.emplace_back(title, matrix_rows(mirror));
            if (pending_.size() == 4) flush_pending();
            return;
        }
        flush_pending();
        Matrix difference = (*values - mirror).cwiseAbs();
        for (Eigen::Index e = 0; e < mirror.size(); ++e)  // equal infinities differ by nothing
            if (mirror.data()[e] == values->data()[e]) difference.data()[e] = 0;
        page_.columns(
            {{title, matrix_rows(mirror)}, {"kernel", matrix_rows(*values)}, {"difference", matrix_rows(difference)}},
            4);
    }

    void flush_pending() {
        if (!pending_.empty()) page_.columns(pending_, 4);
        pending_.clear();
    }

    void footer() {
        if (algorithm_.reads_scores && (trace_.problem.n > 1 || trace_.problem.total_heads() > 1))
            page_.line("That was row 1 of {}; the other rows do the same.",
                       std::int64_t{trace_.problem.n} * trace_.problem.total_heads());
        const Traffic& total = trace_.steps.back().total;
        page_.line("In all: {} steps; HBM {} bytes read, {} written; {} matmul FLOPs, {} other ({} exponentials).",
                   trace_.last_step(), total.hbm_read, total.hbm_write, total.flops_matmul, total.flops_other,
                   total.flops_exp);
        if (trace_.sram_modelled)
            page_.line("SRAM peak: {} bytes.", trace_.sram_peak);
        else
            page_.line("SRAM: not modelled (library calls stream their operands).");
        if (total.barriers > 0) page_.line("Barriers: {}.", total.barriers);
        if (const auto found = first_non_finite(trace_)) page_.line("First not finite: {}.", describe(trace_, *found));
        if (!kernel_) return;
        const Comparison& c = *kernel_->comparison;
        if (c.verdict == Verdict::Equal)
            page_.line("Kernel: equal, largest difference {:.2g}; HBM bytes {}.", c.worst_error,
                       c.bytes.empty() ? "not counted there" : "as expected");
        else if (c.first)
            page_.line("Kernel: {}: {}", c.verdict == Verdict::NonFinite ? "NON-FINITE" : "DIFFERENT",
                       describe(*c.first, trace_.problem));
        else
            page_.line("Kernel: DIFFERENT HBM bytes.");
        if (!c.not_materialised.empty())
            page_.line("Not materialised by the kernel: {}.", fmt::join(c.not_materialised, ", "));
    }

    const Algorithm& algorithm_;
    const Trace& trace_;
    const KernelSide* kernel_;
    Page page_;
    Columns pending_;  // of the step that is being printed
};

}  // namespace

std::vector<std::string> matrix_rows(const Matrix& values) {
    const Eigen::Index rows = std::min(values.rows(), kShown), cols = std::min(values.cols(), kShown);
    std::vector<std::vector<std::string>> cells(static_cast<std::size_t>(rows));
    std::vector<std::size_t> widths(static_cast<std::size_t>(cols), 0);
    for (Eigen::Index r = 0; r < rows; ++r)
        for (Eigen::Index c = 0; c < cols; ++c) {
            cells[static_cast<std::size_t>(r)].push_back(number(values(r, c)));
            auto& wide = widths[static_cast<std::size_t>(c)];
            wide = std::max(wide, cells[static_cast<std::size_t>(r)].back().size());
        }
    std::vector<std::string> lines;
    for (const auto& row : cells) {
        std::string line;
        for (std::size_t c = 0; c < row.size(); ++c) line += fmt::format("{:>{}}", row[c], widths[c] + (c > 0 ? 2 : 0));
        if (cols < values.cols()) line += "  ...";
        lines.push_back(line);
    }
    if (rows < values.rows()) lines.emplace_back("...");
    return lines;
}

std::string plain_line(std::string_view tex) {
    std::string text;
    while (!tex.empty()) {
        const std::size_t open = tex.find('$');
        text += tex.substr(0, open);
        if (open == std::string_view::npos) break;
        const std::size_t close = tex.find('$', open + 1);
        text += plain_text(tex.substr(open + 1, close == std::string_view::npos ? close : close - open - 1));
        tex = close == std::string_view::npos ? std::string_view() : tex.substr(close + 1);
    }
    return text;
}

std::string problem_line(const Problem& p) {
    std::string line =
        fmt::format("N={} Nk={} d={} dv={}, B_r={} B_c={} ({} x {} tiles), scale {:.6g}, {}{}", p.n, p.nk, p.d, p.dv,
                    p.br, p.bc, p.row_blocks(), p.col_blocks(), p.scale, name(p.dtype), p.causal ? ", causal" : "");
    if (p.mask != MaskShape::None) line += p.mask == MaskShape::Keys ? ", a mask of [Nk]" : ", a mask of [N, Nk]";
    if (p.base2) line += ", base-2 exponentials";
    if (p.total_heads() > 1 || p.kv_heads > 1)
        line += fmt::format(", batch {}, {} heads, {} key/value heads", p.batch, p.heads, p.kv_heads);
    if (p.sram_bytes > 0) line += fmt::format(", {} bytes of SRAM", p.sram_bytes);
    return line;
}

std::string walkthrough(const Algorithm& algorithm, const Trace& trace, const KernelSide* kernel) {
    return Walk(algorithm, trace, kernel).print();
}

std::string where_label(const KernelRun& run) {
    switch (run.where) {
        case Where::Host:
            return fmt::format("{} on this CPU (the executor; no GPU involved)", run.kernel);
        case Where::Ptx:
            return fmt::format("{}, nvcc's PTX for {} on this CPU (no GPU involved)", run.kernel, run.device);
        case Where::LiveCuda:
            return fmt::format("{}, live: {}", run.kernel, run.device);
        case Where::Recorded:
            return fmt::format("{}, recorded on {}, {}", run.kernel, run.device, run.date);
    }
    return run.kernel;
}

}  // namespace flashstep::cli
