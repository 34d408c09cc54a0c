// Whole matrices from a trace.
#include "cli/tensor_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/io/file.h"
#include "core/io/tensor_file.h"

namespace flashstep::cli {
namespace {

constexpr std::array<std::string_view, 10> kNames = {"O", "L", "l", "m", "S", "P", "D", "dQ", "dK", "dV"};

bool is_statistic(std::string_view name) { return name == "L" || name == "l" || name == "m" || name == "D"; }

// Where a tile belongs in its matrix: its indices times these.
struct TileGrid {
    std::string_view tile;
    int rows, cols;          // per index; cols 0: the tile spans all columns
    double skipped = -kInf;  // where the mask skips a tile
};

NamedTensor from_hbm(const Trace& trace, int tensor, std::string_view name) {
    const Problem& p = trace.problem;
    const bool shared = trace.tensors[static_cast<std::size_t>(tensor)].per == PerHead::KeyValue;
    NamedTensor result{std::string(name), p.batch, shared ? p.kv_heads : p.heads, is_statistic(name), {}};
    const int queries_per_copy = p.heads / result.heads;
    for (int copy = 0; copy < result.batch * result.heads; ++copy)
        result.matrices.push_back(trace.matrix_at(tensor, trace.last_step(), copy * queries_per_copy).values);
    return result;
}

NamedTensor from_tiles(const Trace& trace, int tensor, const TileGrid& grid, std::string_view name) {
    const Problem& p = trace.problem;
    NamedTensor result{std::string(name), p.batch, p.heads, is_statistic(name), {}};
    result.matrices.assign(static_cast<std::size_t>(p.total_heads()),
                           Matrix::Constant(p.n, grid.cols > 0 ? p.nk : 1, grid.skipped));
    for (const Version& version : trace.versions) {  // in order: the last write of a tile stays
        if (version.tensor != tensor) continue;
        const Step& step = trace.steps[static_cast<std::size_t>(version.step)];
        Matrix& matrix = result.matrices[static_cast<std::size_t>(step.head)];
        const Eigen::Index row0 = Eigen::Index{step.i} * grid.rows;
        const Eigen::Index col0 = grid.cols > 0 ? Eigen::Index{step.j} * grid.cols : 0;
        if (row0 < 0 || col0 < 0) continue;
        // A fault may make a tile larger than its part of the matrix.
        const Eigen::Index rows = std::min<Eigen::Index>(version.rows, matrix.rows() - row0);
        const Eigen::Index cols = std::min<Eigen::Index>(version.cols, matrix.cols() - col0);
        if (rows > 0 && cols > 0) matrix.block(row0, col0, rows, cols) = trace.value(version).topLeftCorner(rows, cols);
    }
    return result;
}

}  // namespace

std::optional<NamedTensor> named_tensor(const Trace& trace, std::string_view name) {
    if (const int tensor = trace.find(name, Space::Hbm); tensor >= 0) return from_hbm(trace, tensor, name);
    const Problem& p = trace.problem;
    std::vector<TileGrid> grids;
    if (name == "m") grids = {{"m_i", p.br, 0}, {"m", 1, 0}};
    if (name == "l") grids = {{"l_i", p.br, 0}, {"l", 1, 0}};
    // A backward pass rebuilds P itself; a forward pass holds weights relative to a running maximum.
    const Algorithm* algorithm = find_algorithm(trace.algorithm);
    if (name == "P" && algorithm && !algorithm->forward.empty()) grids = {{"P_ij", p.br, p.bc, 0}};
    if (name == "S") grids = {{"S_ij", p.br, p.bc}};
    for (const TileGrid& grid : grids)
        if (const int tensor = trace.find(grid.tile, Space::Sram); tensor >= 0)
            return from_tiles(trace, tensor, grid, name);
    return std::nullopt;
}

std::vector<std::string> write_tensor_files(const Trace& trace, const std::string& folder) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error || !std::filesystem::is_directory(folder))
        throw Error(fmt::format("--out {} cannot be made a folder: {}", io::quoted(folder, 200),
                                error ? error.message() : "it is a file"));
    std::vector<std::string> written;
    for (const std::string_view name : kNames) {
        const auto tensor = named_tensor(trace, name);
        if (!tensor) continue;
        io::write_tensor((std::filesystem::path(folder) / fmt::format("{}.npy", name)).string(), tensor->matrices,
                         tensor->batch, tensor->heads, tensor->is_vector ? io::Columns::AsVector : io::Columns::Keep,
                         trace.problem.total_heads() > 1 ? io::Leading::Always : io::Leading::IfSeveral);
        written.emplace_back(name);
    }
    return written;
}

}  // namespace flashstep::cli
