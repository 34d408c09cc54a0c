// The panels: one row each. Layouts name them by their ids (viz/shell/layouts.h), keys show one alone, the help page
// lists the keys.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "core/text.h"
#include "viz/shell/app_state.h"
#include "viz/shell/input.h"

namespace flashstep::viz {

struct Panel {
    std::string_view id;  // in layouts
    Text title;
    std::optional<Key> key;   // shows it alone; again: all of them
    void (*draw)(AppState&);  // into the current ImGui child window; takes all of it
    // Another key that does the same, and what the help page says of it.
    std::optional<Key> letter = {};
    Text letter_help = {};
    // False while it has nothing to show: a layout may give it less room then. Null: it always has.
    bool (*filled)(const AppState&) = nullptr;
};

// In the order of the number keys.
std::span<const Panel> panels();
const Panel* find_panel(std::string_view id);
// The panel's title in the language of the app, for its header.
std::string_view panel_title(const Ui& ui, std::string_view id);

}  // namespace flashstep::viz
