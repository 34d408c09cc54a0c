// What an operation's value is made of.
#pragma once

#include "core/expr.h"
#include "core/task.h"

namespace flashstep {

struct ValueTerms {
    const Expr& e;
    const Matrix &a, &b;  // what is not there is empty
    const Problem& problem;
    const Task& task;  // asked while the value is computed
};

}  // namespace flashstep
