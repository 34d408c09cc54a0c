// What is being looked at: the run that is shown, the one that is being made, and everything that was asked for, to go
// back and forth in. No call waits for a run: what is shown stays until a new one is ready, and stays if that fails.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "core/text.h"
#include "lab/history.h"
#include "lab/recorded.h"
#include "lab/run.h"

namespace flashstep {

// For one thread, the one that draws. Runs are made on a second one, one after the other; the newest request wins.
class Session {
  public:
    Session();
    ~Session();  // cancels what is being made
    Session(const Session&) = delete;

    // The run to show; null before the first is ready.
    const Run* run() const { return run_.get(); }
    std::shared_ptr<const Run> shared_run() const { return run_; }
    // What was asked for last, and what the next edit starts from. A request whose run fails is taken back: then it is
    // what was asked for before. The reference holds until the next poll(), whatever is requested meanwhile.
    const Recipe& recipe() const { return history_.now(); }

    // What there is to choose from.
    std::span<const Recording> recordings = flashstep::recordings();
    // The recording that the last request left, because it is none of what was asked for; the kernel ran on this CPU.
    const std::optional<Recording>& left_recording() const { return left_recording_; }

    // Starts making a run; one in progress is cancelled. What was asked for before can be gone back to, shown or not.
    void request(Recipe recipe);
    // The same recipe with one change.
    void edit(const std::function<void(Recipe&)>& change);
    void resize(const Problem& problem);  // resized() of lab/edit.h; throws Error for an invalid problem
    void set_cell(InputMatrix which, int head, int row, int col, double value);  // `head`: a query head
    bool can_undo() const { return history_.can_go_back(); }
    bool can_redo() const { return history_.can_go_forth(); }
    void undo();  // at once where it leads back to what is shown
    void redo();

    bool busy() const { return job_ != nullptr; }
    float progress() const { return job_ ? job_->task.progress() : 1; }
    // Stops what is being made, and goes back to what is shown; what was cancelled can be redone.
    void cancel();
    const Sentence& error() const { return error_; }  // of the last request; empty: none
    void dismiss_error() { error_ = {}; }
    bool warn_non_finite() const { return warn_non_finite_; }

    // Takes a finished run over. Returns true if run() changed. Call once per frame.
    bool poll();
    // Waits until nothing is in progress, polling. For tests and pictures.
    bool wait();
    // Called from the other thread when a run is finished (to wake a sleeping event loop). Set it before the first
    // request.
    std::function<void()> on_finished;

  private:
    // A run that was asked for. What is made is written before `done`, and read after it.
    struct Job {
        Recipe recipe;
        RunTask task;
        std::shared_ptr<const Run> made;
        bool warn_non_finite = false;
        Sentence error;
        bool done = false;  // guarded by mutex_
    };
    void start();
    void start_unless_shown();
    void abandon();
    void work();
    static void make(Job& job);

    // Where the history may forget now(): whoever draws still reads it.
    void hold_until_poll() { held_.push_back(history_.shared_now()); }

    History history_;
    std::vector<std::shared_ptr<const Recipe>> held_;
    std::shared_ptr<const Run> run_;
    std::shared_ptr<Job> job_;  // the newest request, null where nothing is being made
    Sentence error_;
    std::optional<Recording> left_recording_;
    bool warn_non_finite_ = false;

    std::thread worker_;  // begins with the first request
    std::mutex mutex_;
    std::condition_variable changed_;  // next_, stop_, or a job's `done`
    std::shared_ptr<Job> next_;        // guarded: what the worker takes up next
    bool stop_ = false;                // guarded
};

}  // namespace flashstep
