// What stands between {{ and }}: an expression over the numbers of a lesson's scenes, and how it is written.
//
//   {{m_i[2] @ line=9 i=1 j=2}}            a cell (from 1) after that line in that iteration, of the first head
//   {{O[1,2]}}  {{wrong:O[1,2]}}           a cell in the end; of another scene than `main`
//   {{exp(m_old[2] - m_i[2]) @ line=9 i=1 j=2}}
//   {{bytes:K.read}} {{bytes:all}} {{bytes(standard_attention):all}} {{bytes:standard}}: what the run is measured by
//   {{flops:matmul}} {{memory:extra}} {{sram:peak}} {{sram:barriers}} {{problem:br}} {{steps}}
//   {{flops:other @ line=9 i=1 j=1}}       counted so far, of the first head: flops, bytes:all, sram
//   {{gpu(A100):sms}} {{gpu(A100):fp16_flops | TFLOP}}: what the table of GPUs says (core/gpu_table.cpp)
//   {{model(A100):waves}}                  what `flashstep model` says of the scene's algorithm on it; estimates
//   {{fp16(1 / 3) | 6 digits}}             rounded to a format: fp32, fp16 or bf16
//   {{wavefronts(64, 1, 4)}}               of 8 rows of ldmatrix: bytes of a row, rows alike, chunks (gpu::RowLayout)
//   {{kernel:shared wavefronts}}           a counter of the scene's kernel
//   {{kernel:HBM bytes}} {{kernel:HBM bytes read of K}}   what its threads ask for; also: written
//   {{torn:caught}}                        1 if the executor stopped the scene's kernel, as without one of its waits
//   {{format:fp16.largest}}                where a number format ends; least: its least positive number; epsilon
//   {{bytes:standard / bytes:all | 3 digits x}}
//
// Conditions, in questions, compare them: "m_i[2] @ line=9 i=1 j=2 > m_old[2] @ line=9 i=1 j=2 and problem:n = 4". In
// those that look for cells, row and col are the cell's: "S_ij[row,col] > m_old[row]".
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lessons/place.h"

namespace flashstep {

// One node of an expression.
struct Term {
    enum class Kind {
        Number,  // `number`
        Index,   // row or col of the cell that a condition is asked about: `row`
        Cell,    // `tensor`[row, col], at the place or in the end
        Count,   // `count`:`what`, of `algorithm` if it is named, or up to the place
        Gpu,     // `what` of the GPU `gpu`
        Model,   // `what` of the scene's algorithm on the GPU `gpu`
        Kernel,  // the counter `what`
        Steps,   // of the walk
        Caught,  // 1 if the executor found a mistake in the scene's kernel, else 0
        Hidden,  // 1 if the scene's mistake shows nowhere, else 0
        Step,    // number of the step at the place, to compare by
        Negate,
        Exp,
        Log,
        Sqrt,
        Abs,
        Ceil,
        Fp32,  // rounded to the format
        Fp16,
        Bf16,
        Min,
        Max,
        Wavefronts,
        Add,
        Subtract,
        Multiply,
        Divide,
        Less,
        LessEqual,
        Greater,
        GreaterEqual,
        Equal,
        NotEqual,
        And,
    };
    Kind kind = Kind::Number;
    double number = 0;
    std::string scene;  // empty: `main`
    std::string tensor, count, algorithm, gpu, what;
    int row = 0, col = 0;  // from 0; kRowIndex, kColIndex
    std::optional<Place> at;
    std::vector<Term> operands;
};
constexpr int kRowIndex = -1, kColIndex = -2;

// How a number is written. Without digits 3 of them, as in the cells; a Count (of bytes, steps, ...) in full.
struct NumberStyle {
    enum class Unit { None, Count, Bytes, Factor, Percent, Scaled };
    Unit unit = Unit::None;
    std::string symbol;  // Scaled: "GB"
    double one = 1;      // Scaled: what 1 of it is
    int digits = 0;
};

struct Expression {
    std::string text;  // as it stands in the file; empty: none
    int line = 0;      // of the file
    std::shared_ptr<const Term> root;
    NumberStyle style;
};

// Throws Error: what is missing, and where.
Expression parse_expression(std::string_view text);

// The same with a place for the cells and running counts that name none.
Expression placed(Expression expression, const Place& place);

// The places that it names with the scene of each, in order; a cell without one is not in it.
std::vector<Place> places_of(const Expression& expression);

}  // namespace flashstep
