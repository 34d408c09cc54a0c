// What the app costs: one frame of all panels, and the time from start to the first frame. Needs no window.
#pragma once

namespace flashstep::viz {

// CPU milliseconds of one frame at 1280x720 for the preset n64, median over steps all along the trace: everything but
// GL.
double frame_milliseconds(int frames);

// Milliseconds from nothing to the first frame of the first lesson with its run shown: fonts, run, panels; no window,
// no GL.
double start_milliseconds();

}  // namespace flashstep::viz
