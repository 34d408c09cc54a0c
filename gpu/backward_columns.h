// The walk over a column block that backward rungs on fp32 share: dK_j and dV_j stay on chip and are summed up there.
// Read by nvcc too.
//
// The numbers are lines of the algorithm in two passes / of the one in a single pass (FA2 paper, Algorithm 2). What the
// second one does between them, dQ, is the rung's own.
#pragma once

#include "gpu/attention_shape.h"
#include "gpu/device.h"
#include "gpu/mask_tile.h"
#include "gpu/probe.h"

namespace flashstep::gpu {

// Of a tile pair, what is on chip when its dS_ij is there.
struct ColumnTile {
    int head, i, j, rows, cols;
    std::int64_t first_row;  // of row block i, of all heads
    Shared<float> dS_ij;     // (rows x B_c)
    Shared<float> K_j;       // (cols x d)
};

// One thread block per (batch, head of K and V, column block j). Calls on_tile(ColumnTile) for each tile of it; a
// barrier follows before anything there is overwritten.
template <class Tracer, class OnTile>
FS_DEVICE void backward_columns(const Global<const float>& Q_all,   // [heads, n, d]
                                const Global<const float>& K_all,   // [kv heads, nk, d]
                                const Global<const float>& V_all,   // [kv heads, nk, dv]
                                const Global<const float>& M,       // [mask_rows, nk]; empty: no mask
                                const Global<const float>& dO_all,  // [heads, n, dv]
                                const Global<const float>& L_all,   // [heads, n]
                                const Global<const float>& D_all,   // [heads, n]
                                const Global<float>& dK_all,        // [kv heads, nk, d]
                                const Global<float>& dV_all,        // [kv heads, nk, dv]
                                const AttentionShape& p, const Tracer& probe, const OnTile& on_tile) {
    const int d = p.d, dv = p.dv, B_r = p.B_r, B_c = p.B_c;
    const int thread = thread_idx().x, threads = block_dim().x;
    const int j = block_idx().x % p.col_blocks(), kv = block_idx().x / p.col_blocks();
    const int col0 = j * B_c, cols = p.cols(j);

    const std::int64_t first_key = std::int64_t{kv} * p.nk + col0;
    const auto K = slice(K_all, first_key * d, cols * d);      // (cols x d)
    const auto V = slice(V_all, first_key * dv, cols * dv);    // (cols x dv)
    const auto dK = slice(dK_all, first_key * d, cols * d);    // (cols x d)
    const auto dV = slice(dV_all, first_key * dv, cols * dv);  // (cols x dv)

    auto chip = shared_memory();
    Shared<float> K_j = chip.template take<float>("K_j", B_c * d);
    Shared<float> V_j = chip.template take<float>("V_j", B_c * dv);
    Shared<float> dK_j = chip.template take<float>("dK_j", B_c * d);
    Shared<float> dV_j = chip.template take<float>("dV_j", B_c * dv);
    Shared<float> Q_i = chip.template take<float>("Q_i", B_r * d);
    Shared<float> dO_i = chip.template take<float>("dO_i", B_r * dv);
    Shared<float> L_i = chip.template take<float>("L_i", B_r);
    Shared<float> D_i = chip.template take<float>("D_i", B_r);
    Shared<float> M_ij = chip.template take<float>("M_ij", p.mask_tile_rows() * B_c);
    Shared<float> P_ij = chip.template take<float>("P_ij", B_r * B_c);
    Shared<float> dS_ij = chip.template take<float>("dS_ij", B_r * B_c);

    for (int member = 0; member < p.group(); ++member) {  // the query heads that read this head of K and V
        const int head = kv * p.group() + member;

        // 11 / 6, 7: load K_j, V_j; dK_j = 0, dV_j = 0.
        for (int e = thread; e < cols * d; e += threads) {
            K_j[e] = K[e];
            dK_j[e] = 0.0f;
        }
        for (int e = thread; e < cols * dv; e += threads) {
            V_j[e] = V[e];
            dV_j[e] = 0.0f;
        }

        for (int i = p.first_visible_row_block(j); i < p.row_blocks(); ++i) {  // 12 / 8
            const int row0 = i * B_r, rows = p.rows(i);
            const std::int64_t first_row = std::int64_t{head} * p.n + row0;

            // 13 / 9: load Q_i, dO_i, L_i, D_i. With them comes what is added to the scores.
            for (int e = thread; e < rows * d; e += threads) Q_i[e] = Q_all[first_row * d + e];
            for (int e = thread; e < rows * dv; e += threads) dO_i[e] = dO_all[first_row * dv + e];
            for (int r = thread; r < rows; r += threads) {
                L_i[r] = L_all[first_row + r];
                D_i[r] = D_all[first_row + r];
            }
            load_mask_tile(M_ij, M, p, i, j);
            sync_block();

            for (int e = thread; e < rows * cols; e += threads) {
                const int r = e / cols, c = e % cols, place = r * B_c + c;
                // 14 / 10, 11: S_ij = scale Q_i K_j^T, -inf where the mask hides the key; P_ij = e^(S_ij - L_i).
                float S = 0.0f;
                for (int x = 0; x < d; ++x) S += Q_i[r * d + x] * K_j[c * d + x];
                S = p.visible(row0 + r, col0 + c) ? add_mask(p.scale * S, M_ij, p, r, c) : minus_infinity();
                const float P = exp_diff(S, L_i[r]);
                P_ij[place] = P;
                probe.write(Slot::S_ij, head, i, j, place, S);
                probe.write(Slot::P_ij, head, i, j, place, P);
                // 16 / 13, 14: dP_ij = dO_i V_j^T, dS_ij = P_ij o (dP_ij - D_i).
                float dP = 0.0f;
                for (int x = 0; x < dv; ++x) dP += dO_i[r * dv + x] * V_j[c * dv + x];
                const float dS = P * (dP - D_i[r]);
                dS_ij[place] = dS;
                probe.write(Slot::dP_ij, head, i, j, place, dP);
                probe.write(Slot::dS_ij, head, i, j, place, dS);
            }
            sync_block();

            // 15 / 12: dV_j += P_ij^T dO_i.
            for (int e = thread; e < cols * dv; e += threads) {
                const int c = e / dv, x = e % dv;
                float sum = 0.0f;
                for (int r = 0; r < rows; ++r) sum += P_ij[r * B_c + c] * dO_i[r * dv + x];
                sum += dV_j[e];
                dV_j[e] = sum;
                probe.write(Slot::dV_j, head, i, j, e, sum);
            }
            on_tile(ColumnTile{head, i, j, rows, cols, first_row, dS_ij, K_j});
            // 17 / 16: dK_j += scale dS_ij^T Q_i.
            for (int e = thread; e < cols * d; e += threads) {
                const int c = e / d, x = e % d;
                float sum = 0.0f;
                for (int r = 0; r < rows; ++r) sum += dS_ij[r * B_c + c] * Q_i[r * d + x];
                sum = dK_j[e] + p.scale * sum;
                dK_j[e] = sum;
                probe.write(Slot::dK_j, head, i, j, e, sum);
            }
            sync_block();  // the next tile overwrites Q_i, dO_i, P_ij, dS_ij
        }

        // 18 / 18: write dK_j, dV_j: a thread writes what it summed up itself, added to the heads before.
        for (int e = thread; e < cols * d; e += threads) dK[e] = member == 0 ? dK_j[e] : dK[e] + dK_j[e];
        for (int e = thread; e < cols * dv; e += threads) dV[e] = member == 0 ? dV_j[e] : dV[e] + dV_j[e];
    }
}

// Its dynamic shared memory, in bytes.
inline std::int64_t backward_columns_shared_bytes(const AttentionShape& p) {
    const std::int64_t B_r = p.B_r, B_c = p.B_c;
    return 2 * shared_view_bytes(B_c * p.d, 4) + 2 * shared_view_bytes(B_c * p.dv, 4) +
           shared_view_bytes(B_r * p.d, 4) + shared_view_bytes(B_r * p.dv, 4) + 2 * shared_view_bytes(B_r, 4) +
           shared_view_bytes(p.mask_tile_rows() * B_c, 4) + 2 * shared_view_bytes(B_r * B_c, 4);
}

}  // namespace flashstep::gpu
