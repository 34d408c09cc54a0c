// A plain double reference of attention tile by tile, written for the tests of the kernels and independent of core's
// mirror: what every captured slot has to be, and how exactly fp32 can know it.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/kernel_run.h"
#include "core/problem.h"

namespace flashstep {

// Values and, per element, the sum of absolute terms that scales its rounding error.
struct Expected {
    Matrix value, scale;
};

class KernelReference {
  public:
    KernelReference(const Problem& p, const Inputs& in, int head) : p_(p) {
        const auto h = static_cast<std::size_t>(head), kv = static_cast<std::size_t>(p.kv_index(head));
        S_ = Matrix(p.n, p.nk), terms_ = S_;
        V_ = in.V[kv];
        for (int r = 0; r < p.n; ++r) {
            for (int c = 0; c < p.nk; ++c) {
                double sum = 0, terms = 0;
                for (int x = 0; x < p.d; ++x) {
                    sum += in.Q[h](r, x) * in.K[kv](c, x);
                    terms += std::abs(in.Q[h](r, x) * in.K[kv](c, x));
                }
                S_(r, c) = p.visible(r, c) ? p.scale * sum : -kInf;
                terms_(r, c) = p.visible(r, c) ? std::abs(p.scale) * terms : 0;
            }
        }
    }

    Expected slot(const std::string& name, int i, int j) const {
        if (name == "S") return {S_, terms_};
        if (name == "P") return stat(name, 0, p_.n, 0, p_.nk, p_.nk);
        if (name == "O" || name == "L") return stat(name, 0, p_.n, 0, p_.nk, p_.nk);
        const int row0 = i * p_.br, rows = std::min(p_.br, p_.n - row0);
        const int col0 = j * p_.bc, cols = std::min(p_.bc, p_.nk - col0);
        if (name == "S_ij") return {S_.block(row0, col0, rows, cols), terms_.block(row0, col0, rows, cols)};
        return stat(name, row0, rows, col0, cols, col0 + cols);
    }

  private:
    // Statistics of rows [row0, row0 + rows) over the first `seen` keys. m: maximum; l: sum of e^(S - m); P_ij and O_i
    // relative to m, P, O and L final.
    Expected stat(const std::string& name, int row0, int rows, int col0, int cols, int seen) const {
        const bool keys = name == "P_ij" || name == "P", values = name == "O_i" || name == "O";
        Expected e{Matrix::Zero(rows, keys ? cols : values ? p_.dv : 1), {}};
        e.scale = e.value;
        for (int r = 0; r < rows; ++r) {
            double m = -kInf, most = 0;
            for (int c = 0; c < seen; ++c) {
                m = std::max(m, S_(row0 + r, c));
                most = std::max(most, terms_(row0 + r, c));
            }
            double l = 0;
            std::vector<double> P(static_cast<std::size_t>(seen));
            for (int c = 0; c < seen; ++c)
                l += P[static_cast<std::size_t>(c)] = m == -kInf ? 0 : std::exp(S_(row0 + r, c) - m);
            const double spread = 1 + 2 * most;  // an error of S is a relative error of e^S
            const double norm = name == "O" || name == "P" ? (l > 0 ? 1 / l : 0) : 1;
            if (name == "m_i") e.value(r, 0) = m, e.scale(r, 0) = most;
            if (name == "l_i") e.value(r, 0) = l, e.scale(r, 0) = l * spread;
            if (name == "L") e.value(r, 0) = m + std::log(l), e.scale(r, 0) = spread + most;
            for (int c = 0; keys && c < cols; ++c) {
                e.value(r, c) = P[static_cast<std::size_t>(col0 + c)] * norm;
                e.scale(r, c) = e.value(r, c) * spread;
            }
            for (int x = 0; values && x < p_.dv; ++x) {
                for (int c = 0; c < seen; ++c) {
                    const double term = P[static_cast<std::size_t>(c)] * V_(c, x) * norm;
                    e.value(r, x) += term;
                    e.scale(r, x) += std::abs(term) * spread;
                }
            }
        }
        return e;
    }

    const Problem& p_;
    Matrix S_, terms_, V_;
};

// Checks everything that a run captured; gives the largest error divided by its tolerance.
inline double check_against_reference(const Problem& p, const Inputs& in, const KernelRun& run) {
    constexpr double kEps = 1.1920929e-7;
    double worst = 0;
    for (int head = 0; head < p.total_heads(); ++head) {
        const KernelReference reference(p, in, head);
        for (const auto& captured : run.captured) {
            const SlotKey& key = captured.first;
            const Matrix& values = captured.second;
            if (key.head != head) continue;
            const Expected expected = reference.slot(key.slot, key.i, key.j);
            CAPTURE(key.slot);
            CAPTURE(key.i);
            CAPTURE(key.j);
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
    }
    return worst;
}

}  // namespace flashstep
