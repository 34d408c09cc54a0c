// What is being looked at: a problem with its inputs, its trace, a kernel's run of it and their comparison. Edits
// re-run it on a worker thread; what was there stays until the new one is ready, and stays if the new one fails.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/algorithms.h"
#include "core/compare.h"
#include "core/faults.h"
#include "core/first_non_finite.h"
#include "gpu/run.h"
#include "lab/recorded.h"

namespace flashstep {

// Everything that defines a run.
struct Recipe {
    std::string algorithm = "fa2_forward";
    std::string kernel = "fa2_forward_1_tile";  // empty: no kernel
    std::string fault = {};                     // id of a known mistake of the algorithm; empty: none
    Problem problem;
    Inputs inputs;
    Where where = Where::Host;
    Recording recording = {};  // with Where::Recorded: what is shown instead of a run
};

// Whether the recording is one of this recipe: of its kernel, and of a preset whose problem and inputs are exactly the
// recipe's. A mistake in the mirror changes nothing in it.
bool is_recording_of(const Recording& recording, const Recipe& recipe);

// Where a run with a mistake first holds another number than the right algorithm: an element of Trace::versions.
struct Departure {
    int version, row, col;
    double right;  // NaN: the right algorithm has no such element
};

// Why there is no kernel's run where one was asked for.
enum class KernelFailure {
    None,
    Problem,    // the kernel does not run it, or the executor found a mistake in it
    Device,     // there is none, it refused, or it failed
    Recording,  // it cannot be read, or is of something else
};

// The finished run that panels read. Never changes after it is made.
struct Run {
    Recipe recipe;
    const Algorithm* algorithm = nullptr;
    const Fault* fault = nullptr;  // the mistake that the trace was made with
    Trace trace;
    const Algorithm* plain = nullptr;  // what the run is measured by: standard attention or its backward pass, safe
                                       // softmax where X is read; null: nothing comparable
    Counts standard;                   // of `plain` on the same problem
    std::optional<KernelRun>
        kernel_run;  // nullopt: no kernel was chosen, or there is a failure (kernel_message says which)
    std::optional<Comparison> comparison;
    KernelFailure kernel_failure = KernelFailure::None;
    std::string kernel_message;
    std::optional<Departure> departure;   // with a mistake; nullopt: it does not show in this problem
    std::optional<NonFinite> non_finite;  // where the trace leaves the finite numbers
    std::vector<double> tensor_scale;     // by tensor: largest finite |value| over the whole trace, at least 1e-30
    std::vector<int> widest;              // by tensor: characters of its short numbers, decimal points aligned
    int first_difference = -1;            // step, from the kernel, or from the right algorithm; -1: none
};

// Makes a run, start to end. What fails in the kernel's part is in the run. Throws Error (nothing is shown then but the
// error).
std::shared_ptr<const Run> make_run(const Recipe& recipe, std::atomic<bool>* cancel = nullptr,
                                    std::atomic<float>* progress = nullptr);

enum class InputMatrix { Q, K, V, dO, M };  // M: the additive mask
constexpr int kInputMatrices = 5;
std::string_view name_of(InputMatrix which);
// The matrix that query head `head` reads, null where the problem has none.
const Matrix* input_matrix(const Recipe& recipe, InputMatrix which, int head);

class Session {
  public:
    Session();
    ~Session();
    Session(const Session&) = delete;

    // The run to show; null before the first is ready.
    const Run* run() const { return run_.get(); }
    std::shared_ptr<const Run> shared_run() const { return run_; }
    const Recipe& recipe() const { return recipe_; }  // what was asked for last

    // What there is to choose from.
    std::span<const Recording> recordings = flashstep::recordings();
    // The recording that the last request left, because it is none of what was asked for; the kernel ran on this CPU.
    const std::optional<Recording>& left_recording() const { return left_recording_; }

    // Starts making a run, cancelling one in progress. Remembers the one before for undo.
    void request(Recipe recipe);
    // The same recipe with one change.
    void edit(const std::function<void(Recipe&)>& change);
    // Changes sizes, blocks or the mask's shape: inputs keep what fits and are random elsewhere (seed), the mask is 0.
    void resize(const Problem& problem);
    void set_cell(InputMatrix which, int head, int row, int col, double value);  // `head`: a query head
    bool can_undo() const { return !undo_.empty(); }
    bool can_redo() const { return !redo_.empty(); }
    void undo();
    void redo();

    bool busy() const { return busy_; }
    float progress() const { return progress_; }
    void cancel() { cancel_ = true; }
    const std::string& error() const { return error_; }  // of the last request; empty: none
    void dismiss_error() { error_.clear(); }
    bool warn_non_finite() const { return warn_non_finite_; }

    // Takes a finished run over. Returns true if run() changed. Call once per frame.
    bool poll();
    // Waits until nothing is in progress, then polls. For tests and pictures.
    bool wait();
    // Called from the worker when a run is finished (to wake a sleeping event loop).
    std::function<void()> on_finished;

  private:
    void start(const Recipe& recipe);
    Recipe recipe_;
    std::vector<Recipe> undo_, redo_;
    std::shared_ptr<const Run> run_;
    std::string error_;
    std::optional<Recording> left_recording_;
    bool busy_ = false, warn_non_finite_ = false;
    std::thread worker_;
    std::atomic<bool> cancel_ = false, done_ = false;
    std::atomic<float> progress_ = 0;
    std::shared_ptr<const Run> finished_;  // written by the worker before done_
    std::string finished_error_;
};

}  // namespace flashstep
