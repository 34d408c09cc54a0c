// Plain attention in double.
#include "core/reference.h"

#include <cmath>

namespace flashstep {

Matrix scores(const Problem& p, const Inputs& in, int head) {
    Matrix Q = in.Q[head], K = in.K[p.kv_index(head)];
    round_all(Q, p.dtype);
    round_all(K, p.dtype);
    Matrix S = p.scale * (Q * K.transpose());
    Matrix M = in.mask;
    round_all(M, p.dtype);
    for (int r = 0; r < p.n; ++r)
        for (int c = 0; c < p.nk; ++c) {
            if (p.mask != MaskShape::None) S(r, c) += M(p.mask == MaskShape::Keys ? 0 : r, c);
            if (!p.visible(r, c)) S(r, c) = -kInf;
        }
    return S;
}

Matrix softmax_rows(const Matrix& S) {
    Matrix P = Matrix::Zero(S.rows(), S.cols());
    for (Eigen::Index r = 0; r < S.rows(); ++r) {
        const double m = S.row(r).maxCoeff<Eigen::PropagateNaN>();
        if (m == -kInf) continue;
        P.row(r) = (S.row(r).array() - m).exp();
        P.row(r) /= P.row(r).sum();
    }
    return P;
}

Reference reference(const Problem& p, const Inputs& in, int head) {
    Reference ref;
    ref.S = scores(p, in, head);
    ref.P = softmax_rows(ref.S);
    Matrix V = in.V[p.kv_index(head)];
    round_all(V, p.dtype);
    ref.O = ref.P * V;
    ref.m = ref.S.rowwise().maxCoeff();
    ref.l = Matrix::Zero(p.n, 1);
    ref.L = ref.m;
    for (int r = 0; r < p.n; ++r) {
        if (ref.m(r, 0) == -kInf) continue;
        ref.l(r, 0) = (ref.S.row(r).array() - ref.m(r, 0)).exp().sum();
        ref.L(r, 0) = ref.m(r, 0) + std::log(ref.l(r, 0));
    }
    return ref;
}

Gradients reference_gradients(const Problem& p, const Inputs& in, int head) {
    const Reference ref = reference(p, in, head);
    const auto rounded = [&](Matrix values) {
        round_all(values, p.dtype);
        return values;
    };
    const Matrix Q = rounded(in.Q[head]), K = rounded(in.K[p.kv_index(head)]), V = rounded(in.V[p.kv_index(head)]);
    const Matrix dO = rounded(in.dO[head]), dP = dO * V.transpose();
    Gradients g;
    g.D = dO.cwiseProduct(ref.O).rowwise().sum();
    g.dS = ref.P.cwiseProduct(dP - g.D.replicate(1, p.nk));
    g.dQ = p.scale * (g.dS * K);
    g.dK = p.scale * (g.dS.transpose() * Q);
    g.dV = ref.P.transpose() * dO;
    return g;
}

}  // namespace flashstep
