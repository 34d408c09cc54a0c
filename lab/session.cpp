// Runs on a second thread, one after the other.
#include "lab/session.h"

#include <new>
#include <utility>

#include "core/error.h"
#include "lab/edit.h"

namespace flashstep {

Session::Session() = default;

Session::~Session() {
    abandon();
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    if (worker_.joinable()) worker_.join();
}

void Session::request(Recipe recipe) {
    std::optional<Recording> left;
    if (recipe.where == Where::Recorded && !is_recording_of(recipe.recording, recipe)) {
        left = recipe.recording;
        recipe.where = Where::Host;
    }
    if (recipe.where != Where::Recorded) recipe.recording = {};
    hold_until_poll();
    history_.add(std::move(recipe));
    start();
    left_recording_ = left;
}

void Session::edit(const std::function<void(Recipe&)>& change) {
    Recipe changed = recipe();
    change(changed);
    request(std::move(changed));
}

void Session::resize(const Problem& problem) { request(resized(recipe(), problem)); }

void Session::set_cell(InputMatrix which, int head, int row, int col, double value) {
    request(with_cell(recipe(), which, head, row, col, value));
}

void Session::undo() {
    if (!can_undo()) return;
    hold_until_poll();
    history_.go_back();
    start_unless_shown();
}

void Session::redo() {
    if (!can_redo()) return;
    hold_until_poll();
    history_.go_forth();
    start_unless_shown();
}

void Session::cancel() {
    if (!job_) return;
    hold_until_poll();
    abandon();
    if (run_) history_.return_to_shown(run_->recipe);
    left_recording_.reset();
    error_ = {"cancelled"};
}

void Session::start_unless_shown() {
    if (!history_.at_shown()) return start();
    abandon();
    left_recording_.reset();
    error_ = {};
}

void Session::start() {
    abandon();
    left_recording_.reset();
    error_ = {};
    job_ = std::make_shared<Job>();
    job_->recipe = history_.now();
    {
        const std::lock_guard lock(mutex_);
        next_ = job_;
    }
    changed_.notify_all();
    if (!worker_.joinable()) worker_ = std::thread([this] { work(); });
}

void Session::abandon() {
    if (job_) job_->task.cancel = true;
    job_.reset();
    const std::lock_guard lock(mutex_);
    next_.reset();
}

void Session::work() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [&] { return stop_ || next_; });
        if (stop_) return;
        const std::shared_ptr<Job> job = std::exchange(next_, nullptr);
        lock.unlock();
        make(*job);
        lock.lock();
        job->done = true;
        changed_.notify_all();
        lock.unlock();
        if (!job->task.cancel && on_finished) on_finished();
        lock.lock();
    }
}

void Session::make(Job& job) {
    try {
        job.made = std::make_shared<const Run>(make_run(job.recipe, &job.task));
        job.warn_non_finite = has_non_finite(job.recipe.inputs);
    } catch (const Error& error) { job.error = error.whole(); } catch (const std::bad_alloc&) {
        job.error = {"not enough memory for this problem", "内存不足，请缩小问题规模"};
    } catch (const std::exception& error) { job.error = Sentence(error.what()); }
}

bool Session::poll() {
    held_.clear();
    if (!job_) return false;
    {
        const std::lock_guard lock(mutex_);
        if (!job_->done) return false;
    }
    const std::shared_ptr<Job> job = std::exchange(job_, nullptr);
    if (!job->made) {
        if (history_.take_back())
            start_unless_shown();
        else if (run_)
            history_.return_to_shown(run_->recipe);
        left_recording_.reset();
        error_ = job->error;
        return false;
    }
    run_ = job->made;
    warn_non_finite_ = job->warn_non_finite;
    history_.mark_shown();
    return true;
}

bool Session::wait() {
    bool changed = false;
    while (job_) {
        {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return job_->done; });
        }
        changed = poll() || changed;
    }
    return changed;
}

}  // namespace flashstep
