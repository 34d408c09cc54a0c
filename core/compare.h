// Mirror against kernel: which step, line, tile and element differ first, by how much, and by how much they may.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/output_error.h"
#include "core/text.h"
#include "core/tolerance.h"
#include "core/trace.h"

namespace flashstep {

enum class Verdict {
    Equal,
    Different,
    NonFinite,  // a NaN or an infinity, but for the -inf that a mask writes into S, m and L on both sides
};

// One element that differs.
struct Difference {
    int step = 0, line = 0, i = -1, j = -1, head = 0;
    std::string tensor;
    int row = 0, col = 0;  // 0-based, within the tile (or within the block of a matrix in HBM)
    double mirror = 0, kernel = 0, tolerance = 0;
    Sentence note;  // instead of an element: a tile that is missing, superfluous or of another shape
};

// The comparison of one written version.
struct TileCheck {
    int version;
    Verdict verdict;
    double worst_error;  // largest finite |kernel - mirror|
    double worst_ratio;  // largest |kernel - mirror| / tolerance
    int row, col;        // the first element over its tolerance, else the one with the worst ratio
};

struct TensorSummary {
    std::string name;
    int tiles = 0;
    double worst_error = 0, worst_ratio = 0;
    Verdict verdict = Verdict::Equal;
};

struct ByteCheck {
    std::string tensor;
    TensorBytes kernel, expected;
};

struct Comparison {
    Verdict verdict = Verdict::Equal;
    std::optional<Difference> first;            // in order of the mirror's steps
    std::vector<TileCheck> tiles;               // in order of the versions
    std::vector<int> by_version;                // index into `tiles`, -1: not compared
    std::vector<TensorSummary> tensors;         // in order of the mirror's tensors, compared ones only
    std::vector<std::string> not_materialised;  // computed by the mirror, not produced by the kernel
    std::vector<ByteCheck> bytes;               // empty where the run counted none
    bool bytes_equal = true;
    std::vector<OutputError> outputs;  // 16-bit formats: each output against plain double
    double worst_error = 0;
};

// `expected_bytes` by tensor is what run.hbm has to equal; it is not looked at where run.hbm is empty.
// Throws Cancelled as the task says.
Comparison compare(const Trace& mirror, const KernelRun& run, const std::map<std::string, TensorBytes>& expected_bytes,
                   const Task& task = {});

// The kernel's values for one of the mirror's versions, nullopt where they were not materialised.
std::optional<Matrix> kernel_value(const Trace& mirror, const KernelRun& run, int version);

// The mirror's HBM bytes by tensor in the form of a kernel run's.
std::map<std::string, TensorBytes> bytes_of(const Trace& mirror);

// "step 14, line 10, i=1 j=2, head 1: O_i[2,1] is 1.5 in the mirror, 1.7 in the kernel (tolerance 1e-5)", all from 1.
std::string describe(const Difference& difference, const Problem& problem, Language language = Language::English);

}  // namespace flashstep
