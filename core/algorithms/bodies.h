// What the files of this folder include: an algorithm each.
#pragma once

#include <algorithm>

#include "core/algorithms.h"

namespace flashstep {

using enum TensorKind;  // what a tensor is stands beside its name

// An algorithm's file ends in a type with its row, and instantiates this for it; the table in algorithms.cpp names
// both.
template <typename File>
const Algorithm& row_of() {
    return File::row;
}

}  // namespace flashstep
