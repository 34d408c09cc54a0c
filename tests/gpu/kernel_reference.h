// A plain double reference of attention tile by tile, forward and backward, written for the tests of the kernels and
// independent of core's mirror: what every captured slot has to be, and how exactly fp32 can know it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "core/kernel_run.h"
#include "core/problem.h"

namespace flashstep {

// Values and, per element, the sum of absolute terms that scales its rounding error.
struct Expected {
    Matrix value, scale;
};

// One query head of a problem, as an algorithm computes it.
class KernelReference {
  public:
    KernelReference(std::string_view algorithm, const Problem& p, const Inputs& in, int head)
        : algorithm_(algorithm), p_(p) {
        const auto h = static_cast<std::size_t>(head), kv = static_cast<std::size_t>(p.kv_index(head));
        Q_ = in.Q[h], K_ = in.K[kv], V_ = in.V[kv], dO_ = in.dO[h];
        S_ = {p.scale * (Q_ * K_.transpose()), std::abs(p.scale) * (Q_.cwiseAbs() * K_.cwiseAbs().transpose())};
        for (int r = 0; r < p.n; ++r) {
            for (int c = 0; c < p.nk; ++c) {
                const double added = p.mask == MaskShape::None ? 0 : in.mask(p.mask == MaskShape::Keys ? 0 : r, c);
                const bool seen = p.visible(r, c) && added != -kInf && S_.value(r, c) != -kInf;
                S_.value(r, c) = seen ? S_.value(r, c) + added : -kInf;
                S_.scale(r, c) = seen ? S_.scale(r, c) + std::abs(added) : 0;
            }
        }
        if (is("standard_backward") || is("fa2_backward") || is("fa2_backward_two_pass")) make_gradients();
    }

    Expected slot(const std::string& name, int i, int j) const {
        const Range all{0, p_.n, 0, p_.nk};
        if (i < 0) {
            if (name == "S") return S_;
            if (name == "l" || name == "m") return statistic(name, all, 0, p_.nk);
            if (name == "O") return output(all, p_.nk, true);
            if (name == "P") return weights(all, 0, p_.nk, true);
            if (name == "L") return statistic(name, all, 0, p_.nk);
            return gradient(name, all);
        }
        if (is("naive_softmax") || is("safe_softmax") || is("online_softmax")) return softmax_step(name, i, j);
        const int row0 = i * p_.br, col0 = j * p_.bc;
        const Range tile{row0, std::min(p_.br, p_.n - row0), col0, std::min(p_.bc, p_.nk - col0)};
        const int seen = tile.col0 + tile.cols;
        if (name == "S_ij") return {tile.of(S_.value), tile.of(S_.scale)};
        if (dS_.value.size() > 0) return gradient(name, tile);
        const bool fa1 = is("fa1_forward");
        if (name == "m_ij" || name == "l_ij") return statistic(name.substr(0, 1), tile, tile.col0, seen);
        if (name == "P_ij") return weights(tile, fa1 ? tile.col0 : 0, seen, false);
        if (name == "O_i") return output(tile, seen, fa1);
        return statistic(name.substr(0, 1), tile, 0, seen);  // m_i, m_new, l_i, l_new
    }

  private:
    struct Range {
        int row0, rows, col0, cols;
        Matrix of(const Matrix& whole) const { return whole.block(row0, col0, rows, cols); }
    };
    bool is(std::string_view algorithm) const { return algorithm_ == algorithm; }

    double maximum(int r, int from, int to) const {
        double m = -kInf;
        for (int c = from; c < to; ++c) m = std::max(m, S_.value(r, c));
        return m;
    }
    // An error of S is a relative error of e^S.
    double spread(int r) const { return 1 + 4 * S_.scale.row(r).maxCoeff(); }
    double weight(int r, int c, double m) const { return m == -kInf ? 0 : std::exp(S_.value(r, c) - m); }
    double sum(int r, int from, int to, double m) const {
        double l = 0;
        for (int c = from; c < to; ++c) l += weight(r, c, m);
        return l;
    }

    // m, l or L of the tile's rows over the keys [from, to).
    Expected statistic(const std::string& name, const Range& tile, int from, int to) const {
        Expected e{Matrix(tile.rows, 1), Matrix(tile.rows, 1)};
        for (int k = 0; k < tile.rows; ++k) {
            const int r = tile.row0 + k;
            const double m = maximum(r, from, to), l = sum(r, from, to, m);
            e.value(k, 0) = name == "m" ? m : name == "l" ? l : m + std::log(l);
            e.scale(k, 0) = name == "m" ? S_.scale.row(r).maxCoeff() : name == "l" ? l * spread(r) : 2 * spread(r);
        }
        return e;
    }
    // e^(S - m) of the tile, m over the keys [from, to); or the probabilities.
    Expected weights(const Range& tile, int from, int to, bool normalised) const {
        Expected e{Matrix(tile.rows, tile.cols), Matrix(tile.rows, tile.cols)};
        for (int k = 0; k < tile.rows; ++k) {
            const double m = maximum(tile.row0 + k, from, to), l = sum(tile.row0 + k, from, to, m);
            const double norm = normalised ? (l > 0 ? 1 / l : 0) : 1;
            for (int c = 0; c < tile.cols; ++c) {
                e.value(k, c) = weight(tile.row0 + k, tile.col0 + c, m) * norm;
                e.scale(k, c) = e.value(k, c) * spread(tile.row0 + k);
            }
        }
        return e;
    }
    // The weights of the first `seen` keys times V.
    Expected output(const Range& tile, int seen, bool normalised) const {
        const Expected P = weights({tile.row0, tile.rows, 0, seen}, 0, seen, normalised);
        return {P.value * V_.topRows(seen), P.scale * V_.topRows(seen).cwiseAbs()};
    }

    // m, l and p of one element after another.
    Expected softmax_step(const std::string& name, int r, int c) const {
        const double all = maximum(r, 0, p_.nk), so_far = maximum(r, 0, c + 1);
        const double most = S_.scale.row(r).maxCoeff();
        const double m = is("naive_softmax") ? 0 : is("safe_softmax") || name == "p" ? all : so_far;
        const double value = name == "m"   ? so_far
                             : name == "l" ? sum(r, 0, c + 1, m)
                                           : weights({r, 1, c, 1}, 0, p_.nk, true).value(0, 0);
        const double scale = name == "m" ? most : value * spread(r);
        return {Matrix::Constant(1, 1, value), Matrix::Constant(1, 1, scale)};
    }

    void make_gradients() {
        P_ = weights({0, p_.n, 0, p_.nk}, 0, p_.nk, true);
        dP_ = {dO_ * V_.transpose(), dO_.cwiseAbs() * V_.cwiseAbs().transpose()};
        const Expected O = output({0, p_.n, 0, p_.nk}, p_.nk, true);
        D_ = {dO_.cwiseProduct(O.value).rowwise().sum(), dO_.cwiseAbs().cwiseProduct(O.scale).rowwise().sum()};
        dS_ = {P_.value.cwiseProduct(dP_.value - D_.value.replicate(1, p_.nk)),
               P_.scale.cwiseProduct(dP_.scale + D_.scale.replicate(1, p_.nk))};
    }
    // Of the whole problem or of a tile; dQ_i sums over the keys, dK_j and dV_j over the rows up to the tile's last.
    Expected gradient(const std::string& name, const Range& tile) const {
        const int key_end = tile.col0 + tile.cols, row_end = tile.row0 + tile.rows;
        const double tau = p_.scale;
        const auto product = [](double factor, const Expected& a, const Matrix& b, const Range& part, bool transposed) {
            const Matrix A = part.of(a.value), E = part.of(a.scale);
            if (transposed)
                return Expected{factor * (A.transpose() * b.middleRows(part.row0, part.rows)),
                                std::abs(factor) * (E.transpose() * b.middleRows(part.row0, part.rows).cwiseAbs())};
            return Expected{factor * (A * b.middleRows(part.col0, part.cols)),
                            std::abs(factor) * (E * b.middleRows(part.col0, part.cols).cwiseAbs())};
        };
        if (name == "D") return D_;
        if (name == "P_ij") return {tile.of(P_.value), tile.of(P_.scale)};
        if (name == "dP_ij" || name == "dP") return {tile.of(dP_.value), tile.of(dP_.scale)};
        if (name == "dS_ij" || name == "dS") return {tile.of(dS_.value), tile.of(dS_.scale)};
        if (name == "dQ_ij") return product(tau, dS_, K_, tile, false);
        if (name == "dQ_i" || name == "dQ") return product(tau, dS_, K_, {tile.row0, tile.rows, 0, key_end}, false);
        if (name == "dK_j" || name == "dK") return product(tau, dS_, Q_, {0, row_end, tile.col0, tile.cols}, true);
        if (name == "dV_j" || name == "dV") return product(1, P_, dO_, {0, row_end, tile.col0, tile.cols}, true);
        FAIL("no reference for the slot " << name << " of " << algorithm_);
        return {};
    }

    std::string algorithm_;
    const Problem& p_;
    Matrix Q_, K_, V_, dO_;
    Expected S_, P_, dP_, dS_, D_;  // the last four: backward only
};

// Checks everything that a run captured; gives the largest error divided by its tolerance.
inline double check_against_reference(std::string_view algorithm, const Problem& p, const Inputs& in,
                                      const KernelRun& run) {
    constexpr double kEps = 1.1920929e-7;
    std::vector<KernelReference> heads;
    for (int head = 0; head < p.total_heads(); ++head) heads.emplace_back(algorithm, p, in, head);
    double worst = 0;
    for (const auto& captured : run.captured) {
        const SlotKey& key = captured.first;
        const Matrix& values = captured.second;
        CAPTURE(key.slot);
        CAPTURE(key.head);
        CAPTURE(key.i);
        CAPTURE(key.j);
        Expected expected;
        if (key.slot == "dK" || key.slot == "dV") {  // summed over the query heads of a group
            for (int head = 0; head < p.total_heads(); ++head) {
                if (p.kv_index(head) != key.head) continue;
                const Expected one = heads[static_cast<std::size_t>(head)].slot(key.slot, -1, -1);
                if (expected.value.size() == 0) {
                    expected = one;
                } else {
                    expected.value += one.value, expected.scale += one.scale;
                }
            }
        } else {
            expected = heads[static_cast<std::size_t>(key.head)].slot(key.slot, key.i, key.j);
        }
        REQUIRE(values.rows() == expected.value.rows());
        REQUIRE(values.cols() == expected.value.cols());
        for (Eigen::Index e = 0; e < values.size(); ++e) {
            const double got = values.data()[e], want = expected.value.data()[e];
            if (std::isinf(want)) {
                if (got != want) CHECK(got == want);
                continue;
            }
            // Below 1e-38 fp32 has few digits or none.
            const double tolerance = 32 * kEps * (std::abs(want) + expected.scale.data()[e]) + 1e-37;
            const double ratio = std::abs(got - want) / tolerance;
            if (!(ratio <= 1)) CHECK_MESSAGE(false, "got ", got, ", want ", want, ", tolerance ", tolerance);
            worst = std::max(worst, ratio);
        }
    }
    return worst;
}

}  // namespace flashstep
