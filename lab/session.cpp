// Runs on a worker thread.
#include "lab/session.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "core/reference.h"
#include "lab/format.h"
#include "lab/presets.h"

namespace flashstep {
namespace {

constexpr std::size_t kMostUndo = 100;

// By equal bits: what a mistake does not touch is computed by the same operations.
std::optional<Departure> departure_of(const Trace& wrong, const Trace& right) {
    for (std::size_t v = 0; v < std::min(wrong.versions.size(), right.versions.size()); ++v) {
        const Version &a = wrong.versions[v], &b = right.versions[v];
        const auto with = wrong.value(a), without = right.value(b);
        for (int r = 0; r < a.rows; ++r) {
            for (int c = 0; c < a.cols; ++c) {
                const bool there = r < b.rows && c < b.cols;
                const double x = with(r, c), y = there ? without(r, c) : std::numeric_limits<double>::quiet_NaN();
                if (there && (x == y || (std::isnan(x) && std::isnan(y)))) continue;
                return Departure{static_cast<int>(v), r, c, y};
            }
        }
    }
    return std::nullopt;
}

bool same(const Matrix& a, const Matrix& b) { return a.rows() == b.rows() && a.cols() == b.cols() && a == b; }
bool same(const std::vector<Matrix>& a, const std::vector<Matrix>& b) {
    return std::ranges::equal(a, b, [](const Matrix& x, const Matrix& y) { return same(x, y); });
}
bool same(const Inputs& a, const Inputs& b) {
    return same(a.Q, b.Q) && same(a.K, b.K) && same(a.V, b.V) && same(a.dO, b.dO) && same(a.X, b.X) &&
           same(a.mask, b.mask);
}

KernelRun recorded_run(const Recipe& recipe) {
    if (!is_recording_of(recipe.recording, recipe))
        throw Error("the recording of " + recording_name(recipe.recording.preset, recipe.recording.kernel) +
                    " is none of this kernel, problem and inputs");
    return read_recording(recipe.recording);
}

std::string text_of(const Error& error) {
    return error.hint().empty() ? error.what() : error.what() + std::string(". ") + error.hint();
}

KernelFailure failure_in(Where where) {
    return where == Where::LiveCuda   ? KernelFailure::Device
           : where == Where::Recorded ? KernelFailure::Recording
                                      : KernelFailure::Problem;
}

// The kernel's run of the recipe, or the reason why there is none. What fails here is no failure of the run: its trace
// is shown.
void add_kernel(Run& run, std::atomic<bool>* cancel, std::atomic<float>* progress) {
    const Recipe& recipe = run.recipe;
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    if (!kernel) return;
    const auto fail = [&](KernelFailure failure, const std::string& message) {
        run.kernel_run.reset(), run.comparison.reset();
        run.kernel_failure = failure, run.kernel_message = message;
    };
    if (kernel->algorithm != recipe.algorithm) {
        fail(KernelFailure::Problem, std::string(kernel->id) + " mirrors " + std::string(kernel->algorithm));
        return;
    }
    KernelFailure failure = KernelFailure::Problem;
    try {
        gpu::check_runnable(*kernel, recipe.problem);
        failure = failure_in(recipe.where);
        gpu::RunOptions options;
        options.where = recipe.where;
        options.cancel = cancel;
        options.progress = progress;
        run.kernel_run = recipe.where == Where::Recorded
                             ? recorded_run(recipe)
                             : gpu::run_kernel(*kernel, recipe.problem, recipe.inputs, options);
        const auto expected =
            kernel->bytes_equal_mirror ? bytes_of(run.trace) : gpu::own_bytes(*kernel, recipe.problem);
        run.comparison = compare(run.trace, *run.kernel_run, expected);
        if (run.comparison->first) run.first_difference = run.comparison->first->step;
    } catch (const Error& error) { fail(failure, text_of(error)); } catch (const std::bad_alloc&) {
        fail(failure, "not enough memory for what the kernel captures. Choose a smaller problem");
    } catch (const std::exception& error) { fail(failure, error.what()); }
}

const Algorithm* plain_for(const Algorithm& algorithm) {
    if (algorithm.id == "softmax_backward") return nullptr;  // one line of a backward pass
    if (algorithm.reads_scores) return find_algorithm("safe_softmax");
    return find_algorithm(algorithm.forward.empty() ? "standard_attention" : "standard_backward");
}

void measure_tensors(Run& run) {
    const Trace& trace = run.trace;
    run.tensor_scale.assign(trace.tensors.size(), 1e-30);
    std::vector<int> whole(trace.tensors.size(), 1), rest(trace.tensors.size(), 0);
    for (const Version& version : trace.versions) {
        double& scale = run.tensor_scale[version.tensor];
        const auto values = trace.value(version);
        for (double value : values.reshaped()) {
            if (std::isfinite(value)) scale = std::max(scale, std::abs(value));
            // Decimal points stand under each other: the longest whole part and the longest rest need not be one
            // number's.
            const NumberText text = short_number(value);
            whole[version.tensor] = std::max(whole[version.tensor], text.whole);
            rest[version.tensor] = std::max(rest[version.tensor], text.width - text.whole);
        }
    }
    for (std::size_t t = 0; t < whole.size(); ++t) run.widest.push_back(whole[t] + rest[t]);
    // A tile shares the scale of the matrix it is a block of, so that a colour means the same on the shelf and the
    // bench.
    for (const Touch& touch : trace.touches) {
        if (touch.partner < 0) continue;
        double& a = run.tensor_scale[touch.tensor];
        double& b = run.tensor_scale[touch.partner];
        if (touch.kind == TouchKind::Load) b = a = std::max(a, b);
    }
}

// Of a const recipe as of one that is being changed.
template <class AnyRecipe>
auto find_matrix(AnyRecipe& recipe, InputMatrix which, int head) -> decltype(&recipe.inputs.mask) {
    auto& in = recipe.inputs;
    if (which == InputMatrix::M) return in.mask.size() > 0 ? &in.mask : nullptr;
    const bool query = which == InputMatrix::Q || which == InputMatrix::dO;
    auto& all = which == InputMatrix::Q   ? in.Q
                : which == InputMatrix::K ? in.K
                : which == InputMatrix::V ? in.V
                                          : in.dO;
    const auto index = static_cast<std::size_t>(query ? head : recipe.problem.kv_index(head));
    return index < all.size() ? &all[index] : nullptr;
}

// The old mask in the shape that the problem asks for: what fits stays, keys hold for every query.
void keep_mask(Matrix& fresh, const Matrix& old) {
    const Eigen::Index cols = std::min(fresh.cols(), old.cols());
    if (old.rows() == 1 && fresh.rows() > 1)
        fresh.leftCols(cols) = old.leftCols(cols).replicate(fresh.rows(), 1);
    else if (old.rows() > 1 && fresh.rows() == 1)
        return;  // no row speaks for the others
    else
        fresh.topLeftCorner(std::min(fresh.rows(), old.rows()), cols) =
            old.topLeftCorner(std::min(fresh.rows(), old.rows()), cols);
}

}  // namespace

bool is_recording_of(const Recording& recording, const Recipe& recipe) {
    const Preset* preset = find_preset(recording.preset);
    return preset && recording.kernel == recipe.kernel && preset->algorithm == recipe.algorithm &&
           preset->problem == recipe.problem && same(preset->inputs(preset->problem), recipe.inputs);
}

std::string_view name_of(InputMatrix which) {
    static constexpr std::string_view kNames[kInputMatrices] = {"Q", "K", "V", "dO", "M"};
    return kNames[static_cast<int>(which)];
}

const Matrix* input_matrix(const Recipe& recipe, InputMatrix which, int head) {
    return find_matrix(recipe, which, head);
}

std::shared_ptr<const Run> make_run(const Recipe& recipe, std::atomic<bool>* cancel, std::atomic<float>* progress) {
    auto run = std::make_shared<Run>();
    run->recipe = recipe;
    run->algorithm = find_algorithm(recipe.algorithm);
    if (!run->algorithm) throw Error("there is no algorithm called " + recipe.algorithm);
    run->fault = find_fault(recipe.fault);
    if (!run->fault && !recipe.fault.empty()) throw Error("there is no mistake called " + recipe.fault);
    run->trace = record(*run->algorithm, recipe.problem, recipe.inputs, run->fault);
    run->non_finite = first_non_finite(run->trace);
    if (run->fault) {
        run->departure = departure_of(run->trace, record(*run->algorithm, recipe.problem, recipe.inputs));
        if (run->departure) run->first_difference = run->trace.versions[run->departure->version].step;
    }
    Problem unlimited = recipe.problem;
    unlimited.sram_bytes = 0;
    run->plain = plain_for(*run->algorithm);
    if (run->plain) run->standard = count(*run->plain, unlimited);
    measure_tensors(*run);
    add_kernel(*run, cancel, progress);
    if (cancel && *cancel) throw Error("cancelled");
    return run;
}

Session::Session() = default;

Session::~Session() {
    cancel_ = true;
    if (worker_.joinable()) worker_.join();
}

void Session::request(Recipe recipe) {
    if (run_) {
        undo_.push_back(run_->recipe);
        if (undo_.size() > kMostUndo) undo_.erase(undo_.begin());
    }
    redo_.clear();
    std::optional<Recording> left;
    if (recipe.where == Where::Recorded && !is_recording_of(recipe.recording, recipe)) {
        left = recipe.recording;
        recipe.where = Where::Host;
    }
    if (recipe.where != Where::Recorded) recipe.recording = {};
    start(recipe);
    left_recording_ = left;
}

void Session::edit(const std::function<void(Recipe&)>& change) {
    Recipe recipe = recipe_;
    change(recipe);
    request(std::move(recipe));
}

void Session::resize(const Problem& problem) {
    validate(problem);
    edit([&](Recipe& recipe) {
        Inputs inputs = make_inputs(problem);
        const bool reseed = problem.seed != recipe.problem.seed;
        for (auto member : {&Inputs::Q, &Inputs::K, &Inputs::V, &Inputs::dO}) {
            const std::vector<Matrix>& old = recipe.inputs.*member;
            std::vector<Matrix>& fresh = inputs.*member;
            if (reseed) continue;
            for (std::size_t head = 0; head < std::min(old.size(), fresh.size()); ++head) {
                const Eigen::Index rows = std::min(old[head].rows(), fresh[head].rows());
                const Eigen::Index cols = std::min(old[head].cols(), fresh[head].cols());
                fresh[head].topLeftCorner(rows, cols) = old[head].topLeftCorner(rows, cols);
            }
        }
        if (inputs.mask.size() > 0) keep_mask(inputs.mask, recipe.inputs.mask);
        if (problem.total_heads() == recipe.problem.total_heads() && problem.n == recipe.problem.n &&
            problem.nk == recipe.problem.nk)
            inputs.X = recipe.inputs.X;
        recipe.problem = problem;
        recipe.inputs = std::move(inputs);
    });
}

void Session::set_cell(InputMatrix which, int head, int row, int col, double value) {
    edit([&](Recipe& recipe) {
        if (Matrix* matrix = find_matrix(recipe, which, head)) (*matrix)(row, col) = value;
    });
}

void Session::undo() {
    if (undo_.empty()) return;
    Recipe recipe = std::move(undo_.back());
    undo_.pop_back();
    redo_.push_back(run_ ? run_->recipe : recipe_);
    start(recipe);
}

void Session::redo() {
    if (redo_.empty()) return;
    Recipe recipe = std::move(redo_.back());
    redo_.pop_back();
    if (run_) undo_.push_back(run_->recipe);
    start(recipe);
}

void Session::start(const Recipe& recipe) {
    if (worker_.joinable()) {
        cancel_ = true;
        worker_.join();
    }
    recipe_ = recipe;
    cancel_ = false;
    done_ = false;
    progress_ = 0;
    busy_ = true;
    error_.clear();
    left_recording_.reset();
    finished_.reset();
    finished_error_.clear();
    worker_ = std::thread([this, recipe] {
        try {
            finished_ = make_run(recipe, &cancel_, &progress_);
        } catch (const Error& error) { finished_error_ = text_of(error); } catch (const std::bad_alloc&) {
            finished_error_ = "not enough memory for this problem";
        } catch (const std::exception& error) { finished_error_ = error.what(); }
        done_ = true;
        if (on_finished) on_finished();
    });
}

bool Session::poll() {
    if (!busy_ || !done_) return false;
    worker_.join();
    busy_ = false;
    if (!finished_) {
        error_ = finished_error_;
        left_recording_.reset();
        if (run_) recipe_ = run_->recipe;  // what is shown is what the next edit starts from
        return false;
    }
    run_ = std::move(finished_);
    warn_non_finite_ = has_non_finite(run_->recipe.inputs);
    return true;
}

bool Session::wait() {
    while (busy_ && !done_) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return poll();
}

}  // namespace flashstep
