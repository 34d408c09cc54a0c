// The fields of the top bar, and the lists that they open.
#pragma once

#include <string_view>

#include "viz/shell/ui.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {

enum class FieldLook { Quiet, Alarm };

// A quiet label over a value, or one that stands out, `width` screen pixels wide. Returns whether it was clicked.
bool field(Ui& ui, const char* id, std::string_view label, std::string_view value, float width,
           FieldLook look = FieldLook::Quiet);

// The list that a field opens, below it, at least `width` wide: if (begin_list(...)) { ...; ImGui::EndPopup(); }
bool begin_list(Ui& ui, const char* id, float width);

enum class NotePlace { Below, Right };

struct ListRow {
    std::string_view title, note;
    bool chosen = false;
    Enabled enabled = Enabled::Yes;
    NotePlace place = NotePlace::Below;
    std::string_view right = {};  // quiet, at the right end of the title's line
    std::string_view tex = {};    // a formula below the title; the note then stands in the tooltip alone
};
// One row; what does not fit is cut, and whole in its tooltip. Returns whether it was clicked, which closes the list.
bool list_row(Ui& ui, const ListRow& row);
void list_heading(Ui& ui, const char* text);

}  // namespace flashstep::viz
