// One kernel ready to be timed, over and over, on tensors that stay where they are. Plain C++, read by nvcc too.
#pragma once

namespace flashstep::gpu {

class BenchRun {
  public:
    BenchRun() = default;
    BenchRun(const BenchRun&) = delete;
    virtual ~BenchRun() = default;
    // Puts the device's L2 cache into a state that does not depend on the run before.
    virtual void flush_cache() = 0;
    virtual void start() = 0;   // the clock
    virtual void launch() = 0;  // everything the kernel does for one pass
    // Waits for the launch and stops the clock. Milliseconds between the two events, on the device.
    virtual double stop_ms() = 0;
};

}  // namespace flashstep::gpu
