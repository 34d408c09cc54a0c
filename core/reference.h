// Plain attention in double, the oracle of every algorithm: no tiles, no machine.
#pragma once

#include "core/problem.h"

namespace flashstep {

struct Reference {
    Matrix S, P, O;  // [n, nk], [n, nk], [n, dv]: masked scaled scores, probabilities, output
    Matrix m, l, L;  // [n, 1]: row maximum, sum of e^(S - m), log-sum-exp (natural)
};

// One head (batch-major index). A row that sees no key has P = 0, O = 0, m = L = -inf, l = 0. Inputs are first rounded
// to the problem's format; all else is double.
Reference reference(const Problem& problem, const Inputs& inputs, int head);

struct Gradients {
    Matrix D, dS, dQ;  // [n, 1], [n, nk], [n, d] of one query head
    Matrix dK, dV;     // [nk, d], [nk, dv] of one query head: heads that share K and V add theirs
};

// Gradients of one head from dO in plain double; a row that sees no key has none.
Gradients reference_gradients(const Problem& problem, const Inputs& inputs, int head);

// Masked scaled scores of one head, the default X of the softmax algorithms.
Matrix scores(const Problem& problem, const Inputs& inputs, int head);

// Softmax of each row in double, with the same rule for rows of -inf.
Matrix softmax_rows(const Matrix& scores);

}  // namespace flashstep
