// The running softmax of the rows that a warp holds as results of tensor cores (FA2 paper, Algorithm 1, lines 8 to 13).
// Read by nvcc too.
#pragma once

#include "gpu/tensor_tile.h"

namespace flashstep::gpu {

// Of 16 rows: a lane holds its columns of two of them, [g] and [g + 8].
template <int kColumns>
struct OutputRows {
    float O[kColumns / 8][4];  // unnormalised
    float m[2], l[2];          // running maximum and sum, the same in the four lanes of a row

    FS_DEVICE void start() {  // line 5
        for (int h = 0; h < 2; ++h) m[h] = minus_infinity(), l[h] = 0.0f;
        for (auto& result : O) {
            for (float& x : result) x = 0.0f;
        }
    }
};

enum class Exponential { Natural, Base2 };

// e^(a - b) or 2^(a - b); b is finite, a may be -inf.
template <Exponential kBase>
FS_DEVICE float power_diff(float a, float b) {
    if constexpr (kBase == Exponential::Natural) {
        return exp_diff(a, b);
    } else {
        return exp2_of(a - b);
    }
}

// Line 8: S = scale QK^T, -inf where a key is hidden or past the end. The warp's rows start at row0 of the matrix, the
// tile's keys at col0, of which `cols` are there.
template <int kKeyTiles>
FS_DEVICE void scale_and_mask(float (&S)[kKeyTiles][4], const AttentionShape& p, float scale, int row0, int col0,
                              int cols) {
    for (int n = 0; n < kKeyTiles; ++n) {
        for (int e = 0; e < 4; ++e) {
            const int c = fragment_col(n, e);
            const bool seen = c < cols && p.visible(row0 + fragment_row(e), col0 + c);
            S[n][e] = seen ? scale * S[n][e] : minus_infinity();
        }
    }
}

// Line 9: m = max(m_old, rowmax(S)), S becomes P = e^(S - m), l = e^(m_old - m) l + rowsum(P); and the first half of
// line 10: O = diag(e^(m_old - m)) O.
template <Exponential kBase, int kKeyTiles, int kColumns>
FS_DEVICE void softmax_step(float (&S)[kKeyTiles][4], OutputRows<kColumns>& rows) {
    for (int h = 0; h < 2; ++h) {
        const float m_old = rows.m[h];
        float m = m_old, sum = 0.0f;
        for (int n = 0; n < kKeyTiles; ++n) m = max_of(m, max_of(S[n][2 * h], S[n][2 * h + 1]));
        m = row_max(m);
        const float base = m == minus_infinity() ? 0.0f : m;  // guards -inf - -inf; the state keeps -inf
        for (int n = 0; n < kKeyTiles; ++n) {
            for (int e = 2 * h; e < 2 * h + 2; ++e) {
                S[n][e] = power_diff<kBase>(S[n][e], base);
                sum += S[n][e];
            }
        }
        const float rescale = power_diff<kBase>(m_old, base);
        rows.m[h] = m;
        rows.l[h] = rescale * rows.l[h] + row_sum(sum);
        for (auto& result : rows.O) result[2 * h] *= rescale, result[2 * h + 1] *= rescale;
    }
}

// Lines 12 to 15: O = diag(l)^-1 O rounded to the format, L = m + log(l) with m back from base 2 if it is. The warp's
// rows start at row0 of O and L, of which there are `rows`. A row without keys gives O = 0, L = -inf.
template <Exponential kBase, class T, int kColumns, class Out, class Log>
FS_DEVICE void store_rows(const OutputRows<kColumns>& state, const Out& O, const Log& L, int row0, int rows, int dv) {
    constexpr float kLn2 = 0.693147180559945f;
    const float inverse[2] = {state.l[0] == 0.0f ? 0.0f : 1.0f / state.l[0],
                              state.l[1] == 0.0f ? 0.0f : 1.0f / state.l[1]};
    store_result<T, kColumns>(O, state.O, inverse, Stored::New, row0, rows, dv);
    for (int h = 0; h < 2; ++h) {
        const int r = row0 + fragment_row(2 * h);
        if (r >= rows || fragment_col(0, 0) != 0) continue;
        L[r] = (kBase == Exponential::Base2 ? kLn2 * state.m[h] : state.m[h]) + log_of(state.l[h]);
    }
}

}  // namespace flashstep::gpu
