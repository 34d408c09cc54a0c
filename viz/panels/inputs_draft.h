// What a person has typed into the inputs and is not (yet) part of a recipe.
#pragma once

#include <string>

#include "core/text.h"

namespace flashstep::viz {

struct InputsDraft {
    std::string field;         // id of the field whose text was refused; empty: none
    std::string text;          // what was typed
    Sentence error;            // and why not
    std::string active, live;  // the field that has the keyboard, and its text so far
    std::string path;          // of a file to load
    int matrix = 0;            // as InputMatrix
};

}  // namespace flashstep::viz
