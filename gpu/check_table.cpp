// The shapes, one a line.
#include "gpu/check_table.h"

#include <cmath>

namespace flashstep::gpu {

std::span<const CheckShape> check_table() {
    using enum CheckShape::Causal;
    using enum CheckShape::Scores;
    constexpr MaskShape none = MaskShape::None, keys = MaskShape::Keys, scores = MaskShape::Scores;
    static constexpr CheckShape table[] = {
        //  n   nk    d   dv  br  bc  causal heads scores   mask  batch
        {1, 1, 3, 3, 2, 2, No, 1, 1, Ordinary, none},
        {1, 64, 64, 64, 4, 16, Yes, 1, 1, Ordinary, none},
        {1, 256, 80, 40, 1, 32, No, 2, 1, Ordinary, none},
        {4, 4, 3, 3, 2, 2, No, 1, 1, Ordinary, none},
        {4, 200, 40, 40, 4, 32, Yes, 1, 1, Ordinary, none},
        {4, 64, 128, 128, 2, 16, No, 4, 1, Ordinary, none},
        {63, 63, 64, 64, 16, 32, Yes, 1, 1, Ordinary, none},
        {63, 40, 80, 80, 16, 16, No, 4, 2, Ordinary, none, 2},
        {63, 127, 64, 64, 32, 16, No, 1, 1, Ordinary, keys},
        {64, 64, 64, 64, 16, 32, No, 1, 1, Ordinary, none},
        {64, 64, 128, 128, 32, 32, Yes, 4, 2, Ordinary, none},
        {64, 200, 3, 3, 16, 32, No, 1, 1, Ordinary, scores},
        {65, 65, 40, 40, 32, 32, Yes, 1, 1, Ordinary, none},
        {65, 127, 128, 128, 32, 16, No, 1, 1, Extreme, none},
        {65, 4, 64, 64, 16, 4, Yes, 1, 1, Ordinary, none},
        {127, 127, 80, 80, 32, 32, Yes, 6, 3, Ordinary, none},
        {127, 63, 64, 64, 16, 32, Yes, 1, 1, Ordinary, none},
        {127, 65, 80, 80, 32, 16, Yes, 1, 1, Ordinary, scores},
        {200, 200, 64, 64, 32, 32, Yes, 1, 1, Ordinary, none},
        {200, 256, 3, 3, 64, 32, Yes, 1, 1, Extreme, none},
        {200, 200, 128, 128, 32, 32, Yes, 1, 1, Ordinary, none},
        {256, 256, 64, 64, 32, 64, Yes, 1, 1, Ordinary, none},
        {256, 100, 128, 64, 64, 32, Yes, 1, 1, Ordinary, keys},
        {256, 256, 40, 40, 64, 64, Yes, 1, 1, Extreme, none},
        {256, 63, 40, 40, 32, 32, No, 1, 1, Ordinary, none},
    };
    return table;
}

Problem problem_of(const CheckShape& shape, const KernelInfo& kernel) {
    Problem p;
    p.n = shape.n, p.nk = shape.nk, p.d = shape.d, p.dv = shape.dv;
    p.br = kernel.br > 0 ? kernel.br : shape.br;
    p.bc = kernel.bc > 0 ? kernel.bc : shape.bc;
    p.scale = 1 / std::sqrt(static_cast<double>(shape.d));
    p.causal = shape.causal == CheckShape::Causal::Yes;
    p.mask = shape.mask;
    p.batch = shape.batch, p.heads = shape.heads, p.kv_heads = shape.kv_heads;
    p.dtype = kernel.dtypes.front();
    p.base2 = kernel.base2;
    return p;
}

std::string left_out(const CheckShape& shape, const KernelInfo& kernel) {
    if (kernel.overflows && shape.scores == CheckShape::Scores::Extreme)
        return std::string(kernel.id) + " overflows where scores are extreme, as its mirror does";
    return {};
}

Inputs inputs_of(const CheckShape& shape, const Problem& problem) {
    Inputs in = make_inputs(problem);
    if (shape.scores == CheckShape::Scores::Extreme)
        for (Matrix& Q : in.Q) Q *= 128;
    for (int r = 0; r < in.mask.rows(); ++r)
        for (int c = 0; c < in.mask.cols(); ++c) {
            const bool row_hidden = in.mask.rows() > 1 && r % 16 == 5, tile_hidden = c < problem.bc;
            in.mask(r, c) = row_hidden || tile_hidden || (r + 3 * c) % 7 == 0 ? -kInf : ((r + c) % 5 - 2) / 4.0;
        }
    return in;
}

}  // namespace flashstep::gpu
