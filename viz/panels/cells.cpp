// Look-ups of a cell in the trace and in the kernel's run.
#include "viz/panels/cells.h"

#include "lab/format.h"
#include "lab/spoiled.h"

namespace flashstep::viz {
namespace {

constexpr Text kRightIs{"without the mistake: {value}", "没有这处错误时：{value}"};
constexpr Text kRightNone{"without the mistake this cell is not there", "没有这处错误时，这个单元格不存在"};
constexpr Text kWrongFirst{"{what} (the first that is wrong)", "{what}（最先出错的一个）"};

}  // namespace

CellVersion version_of(const AppState& app, const CellRef& cell) {
    const Trace& trace = app.run->trace;
    if (cell.tensor < 0 || cell.tensor >= static_cast<int>(trace.tensors.size())) return {};
    const Tensor& tensor = trace.tensors[cell.tensor];
    const int step = app.player->step();
    if (tensor.space == Space::Sram) {
        const int version = trace.tile_at(cell.tensor, step);
        if (version < 0 || cell.row >= trace.versions[version].rows || cell.col >= trace.versions[version].cols)
            return {};
        return {version, cell.row, cell.col};
    }
    if (cell.row >= tensor.rows || cell.col >= tensor.cols) return {};
    const int block = cell.row / tensor.block_rows * tensor.col_blocks() + cell.col / tensor.block_cols;
    const int version = trace.version_at(cell.tensor, step, trace.copy_of(cell.tensor, app.player->head()), block);
    if (version < 0) return {};
    const Trace::Range range = trace.block_range(cell.tensor, trace.versions[version].block);
    return {version, cell.row - range.row0, cell.col - range.col0};
}

int position_of(const AppState& app, int step) {
    if (step == 0) return 0;
    return step - app.run->trace.head_range(app.run->trace.steps[step].head).first + 1;
}

std::optional<double> kernel_cell(const AppState& app, const CellVersion& cell) {
    const Run& run = *app.run;
    if (cell.version < 0 || !run.kernel_run || !run.comparison) return std::nullopt;
    if (run.comparison->by_version[cell.version] < 0) return std::nullopt;
    const std::optional<Matrix> values = kernel_value(run.trace, *run.kernel_run, cell.version);
    if (!values || cell.row >= values->rows() || cell.col >= values->cols()) return std::nullopt;
    return (*values)(cell.row, cell.col);
}

std::string right_value_text(const AppState& app, const CellVersion& cell) {
    const std::optional<double> right = right_value(*app.run, cell.version, cell.row, cell.col);
    if (!right) return {};
    const Ui& ui = app.ui;
    const Version& other = app.run->right->versions[cell.version];
    const bool there = cell.row < other.rows && cell.col < other.cols;
    const std::string text =
        there ? ui.tr(kRightIs, {{"value", exact_number(*right)}}) : std::string(ui.tr(kRightNone));
    const Departure& first = *app.run->departure;
    const bool is_first = first.version == cell.version && first.row == cell.row && first.col == cell.col;
    return is_first ? ui.tr(kWrongFirst, {{"what", text}}) : text;
}

}  // namespace flashstep::viz
