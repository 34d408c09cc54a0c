// Places where a kernel runs, and the architectures that it is there for.
#include "viz/panels/where.h"

#include <algorithm>
#include <iterator>

#include "gpu/launch.h"
#include "viz/shell/frame.h"
#include "viz/text/kernel_source.h"

namespace flashstep::viz {
namespace {

// Device and day stand in the file, which is read once. A damaged one has its error.
const RecordingLabel& label_of(AppState& app, const Recording& recording) {
    std::vector<RecordingLabel>& labels = frame_state(app).recording_labels;
    const auto known = std::ranges::find(labels, recording.bytes.data(), &RecordingLabel::bytes);
    if (known != labels.end()) return *known;
    RecordingLabel label{recording.bytes.data(), std::string(recording.device), {}, {}};
    try {
        const KernelRun run = read_recording(recording);
        label.device = run.device;
        label.date = run.date;
    } catch (const std::exception& error) { label.error = error.what(); }
    labels.push_back(std::move(label));
    return labels.back();
}

RunPlace gpu_place(const Ui& ui, const Recipe& recipe) {
    const gpu::DeviceStatus& device = this_device();
    RunPlace place{.where = Where::LiveCuda, .title = ui.tr(Str::where_gpu), .note = {}};
    place.current = recipe.where == Where::LiveCuda;
    place.available = device.available;
    if (!device.available) {
        place.note = device.built ? device.message : std::string(ui.tr(Str::where_not_built));
        return place;
    }
    place.title = device.name;
    place.note = ui.tr(Str::where_gpu_live);
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    try {
        if (kernel) gpu::check_device(*kernel, recipe.problem.dtype, device);
    } catch (const Error& error) {
        place.available = false;
        place.note = error.what();
    }
    return place;
}

RunPlace recording_place(AppState& app, const Recording& recording, const Recipe& recipe) {
    const RecordingLabel& label = label_of(app, recording);
    RunPlace place{.where = Where::Recorded, .recording = recording, .title = {}, .note = label.date};
    place.title = app.ui.tr(Str::where_recording_on, {{"device", label.device}});
    place.current = recipe.where == Where::Recorded && recipe.recording.bytes.data() == recording.bytes.data();
    if (!label.error.empty()) {
        place.available = false;
        place.note = label.error;
    }
    return place;
}

// Every architecture that any kernel is there for, in order.
const std::vector<int>& known_targets() {
    static const std::vector<int> known = [] {
        std::vector<int> all;
        for (const gpu::KernelInfo& kernel : gpu::kernels())
            all.insert(all.end(), kernel.targets.begin(), kernel.targets.end());
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }();
    return known;
}

// Whether the kernel's largest tiles are more than a block of an architecture can have on chip.
bool too_large_for(const gpu::KernelInfo& kernel, DType dtype, int target) {
    if (kernel.head_dims.empty() || kernel.br == 0) return false;  // its blocks are chosen to fit
    Problem problem;
    problem.d = problem.dv = kernel.head_dims.back();
    problem.br = kernel.br, problem.bc = kernel.bc;
    problem.dtype = dtype, problem.base2 = kernel.base2;
    return gpu::shared_bytes(kernel, problem) > gpu::opt_in_shared_bytes(target);
}

}  // namespace

const gpu::DeviceStatus& this_device() {
    static const gpu::DeviceStatus device = gpu::device_status();
    return device;
}

std::vector<RunPlace> run_places(AppState& app) {
    const Ui& ui = app.ui;
    const Recipe& recipe = app.session.recipe();
    std::vector<RunPlace> places;
    places.push_back({.where = Where::Host, .title = ui.tr(Str::where_cpu), .note = ui.tr(Str::where_cpu_note)});
    places.back().current = recipe.where == Where::Host;
    places.push_back(gpu_place(ui, recipe));
    for (const Recording& recording : app.session.recordings)
        if (is_recording_of(recording, recipe)) places.push_back(recording_place(app, recording, recipe));
    if (places.size() == 2)
        places.push_back({.where = Where::Recorded,
                          .title = ui.tr(Str::where_recording),
                          .note = ui.tr(Str::where_no_recording),
                          .available = false});
    return places;
}

void choose_place(AppState& app, const RunPlace& place) {
    if (!place.available) return;
    app.session.edit([&](Recipe& recipe) {
        recipe.where = place.where;
        recipe.recording = place.recording;
    });
}

void choose_this_cpu(AppState& app) {
    app.session.edit([](Recipe& recipe) { recipe.where = Where::Host; });
}

std::string where_it_ran(const Ui& ui, const KernelRun& run) {
    switch (run.where) {
        case Where::LiveCuda:
            return ui.tr(Str::kernel_live, {{"device", run.device}});
        case Where::Recorded:
            return ui.tr(Str::kernel_recorded, {{"device", run.device}, {"date", run.date}});
        case Where::Host:
            break;
    }
    return ui.tr(this_device().available ? Str::kernel_host_chosen : Str::kernel_host);
}

std::string targets_text(const Ui& ui, const gpu::KernelInfo& kernel, DType dtype) {
    const std::vector<int> targets = gpu::targets_of(kernel, dtype);
    if (targets.empty()) return {};
    const std::vector<int>& known = known_targets();
    const auto first = std::ranges::find(known, targets.front());
    std::string text;
    if (std::equal(targets.begin(), targets.end(), first, known.end())) {
        text = ui.tr(Str::targets_from, {{"target", std::to_string(targets.front())}});
    } else {
        for (const int target : targets) text += (text.empty() ? "sm_" : ", sm_") + std::to_string(target);
    }
    if (first == known.begin()) return text;
    // Why not on older ones.
    std::string why;
    if (kernel.targets.front() < targets.front())
        why = name(dtype);
    else if (kernel_source(kernel.id).find("cp_async") != std::string_view::npos)
        why = "cp.async";
    else if (too_large_for(kernel, dtype, *std::prev(first)))
        why = ui.tr(Str::targets_shared);
    return why.empty() ? text : text + ui.tr(Str::targets_why, {{"why", why}});
}

}  // namespace flashstep::viz
