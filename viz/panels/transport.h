// What the transport keeps from frame to frame.
#pragma once

#include "viz/widgets/timeline.h"

namespace flashstep::viz {

struct TransportState {
    Timeline timeline;
    int followed_step = -1;  // the step that the timeline's view was moved for
};

}  // namespace flashstep::viz
