// The step's sentence, under the memory view: what moved, from where, how many bytes, what changed and why.
#pragma once

#include <imgui.h>

#include "viz/shell/app_state.h"
#include "viz/text/markdown.h"

namespace flashstep::viz {

struct StepSentencePanel {
    MarkdownView text;
    TextSize size = TextSize::Body;
    float height = 0;  // screen pixels that it takes at every step, so that nothing above it moves
    ImVec2 at;         // its corner on the screen
    // What they were made for.
    ImVec2 room;
    float scale = 0;
    Language language = Language::English;
    int step = -1, row = -1;
};

// What the sentence takes of the height of `room` (screen pixels), its distance to what stands above it included.
float step_sentence_height(AppState& app, ImVec2 room);
// At the cursor; after step_sentence_height.
void draw_step_sentence(AppState& app);

}  // namespace flashstep::viz
