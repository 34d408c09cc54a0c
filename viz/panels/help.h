// The keys that the help page lists.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "viz/shell/ui.h"

namespace flashstep::viz {

struct KeyRow {
    std::string keys;
    std::string_view what;
};
std::vector<KeyRow> key_rows(const Ui& ui);

}  // namespace flashstep::viz
