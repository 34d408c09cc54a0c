// The 4-pixel grid: distances that everything shares, in design pixels (Ui::px makes them screen pixels).
#pragma once

namespace flashstep::viz {

constexpr float kPadding = 12;  // between a panel's edge and what is in it
constexpr float kGap = 8;       // between things that belong together
constexpr float kSmallGap = 4;
constexpr float kWideGap = 16;  // between things that do not
constexpr float kCorner = 4;    // radius
constexpr float kSmallCorner = 2;
constexpr float kStroke = 2;  // of a frame that is to be seen first
constexpr float kThinStroke = 1.5f;
constexpr float kHair = 1;  // of separators and outlines

}  // namespace flashstep::viz
