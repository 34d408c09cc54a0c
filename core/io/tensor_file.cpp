// A matrix per head from and to a file.
#include "core/io/tensor_file.h"

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "core/error.h"
#include "core/io/csv.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "core/say.h"

namespace flashstep::io {

TensorFile read_tensor(const std::string& path) {
    std::string extension = std::filesystem::path(path).extension().string();
    std::transform(extension.begin(), extension.end(), extension.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    TensorFile file{.path = path, .matrices = {}};
    if (extension == ".csv") {
        file.matrices.push_back(read_csv(path));
        file.rows = static_cast<int>(file.matrices[0].rows());
        file.cols = static_cast<int>(file.matrices[0].cols());
        return file;
    }
    if (extension != ".npy")
        throw Error(say("{}: the name of a matrix file has to end in .npy or .csv",
                        "{}：矩阵文件名须以 .npy 或 .csv 结尾", quoted(path, 200)));

    const NpyArray array = read_npy(path);
    const auto& shape = array.shape;
    if (shape.size() != 1 && shape.size() != 2 && shape.size() != 4)
        throw Error(say("{}: shape {} has {} dimensions; it has to be (N, d), (N,) or (batch, heads, N, d)",
                        "{}：形状 {} 有 {} 维，应为 (N, d)、(N,) 或 (batch, heads, N, d)", path, shape_text(shape),
                        shape.size()));
    if (array.values.empty())
        throw Error(say("{}: shape {} has no elements", "{}：形状 {} 不含任何元素", path, shape_text(shape)));
    // kMaxElements fits an int, so each size of an array that is not empty does.
    const auto size = [&](std::size_t axis) { return static_cast<int>(shape[axis]); };
    file.has_heads = shape.size() == 4;
    if (file.has_heads) file.batch = size(0), file.heads = size(1);
    file.rows = file.has_heads ? size(2) : size(0);
    file.cols = file.has_heads ? size(3) : (shape.size() == 2 ? size(1) : 1);
    const std::size_t each = static_cast<std::size_t>(file.rows) * static_cast<std::size_t>(file.cols);
    for (std::size_t at = 0; at < array.values.size(); at += each)
        file.matrices.push_back(Eigen::Map<const Matrix>(array.values.data() + at, file.rows, file.cols));
    return file;
}

void write_tensor(const std::string& path, const std::vector<Matrix>& matrices, int batch, int heads, Columns columns,
                  Leading leading) {
    std::vector<std::int64_t> shape;
    if (batch * heads > 1 || leading == Leading::Always) shape = {batch, heads};
    const Matrix& first = matrices.at(0);
    shape.push_back(first.rows());
    if (columns == Columns::Keep || first.cols() != 1) shape.push_back(first.cols());
    std::vector<double> values;
    for (const Matrix& matrix : matrices) values.insert(values.end(), matrix.data(), matrix.data() + matrix.size());
    write_npy(path, shape, values);
}

}  // namespace flashstep::io
