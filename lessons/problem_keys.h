// The keys that name the sizes of a problem: of a scene in the front matter, and of a change that an experiment asks
// for.
#pragma once

#include "core/problem.h"
#include "lessons/keys.h"

namespace flashstep {

// The problem that it starts from with the sizes that the keys name. As on the command line, N stands for the keys too,
// d for the columns of V, heads for those of K and V, and tau follows d.
void take_problem(Keys& keys, Problem& p);

}  // namespace flashstep
