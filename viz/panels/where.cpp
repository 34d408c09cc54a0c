// Places where a kernel runs, and the architectures that it is there for.
#include "viz/panels/where.h"

#include <algorithm>
#include <iterator>

#include "gpu/launch.h"
#include "gpu/ptx/compile.h"
#include "viz/text/kernel_source.h"

namespace flashstep::viz {
namespace {

constexpr Text kKernelHost{"kernel on this CPU (no GPU found)", "在本机 CPU 上运行的 kernel（未找到 GPU）"};
constexpr Text kKernelLive{"live: {device}", "实时运行：{device}"};
constexpr Text kKernelRecorded{"recorded on {device}, {date}", "录制于 {device}，{date}"};
constexpr Text kWhereCpu{"this CPU", "本机 CPU"};
constexpr Text kWhereCpuNote{"the executor checks every access", "由执行器检查每次访存"};
constexpr Text kWherePtx{"nvcc's PTX on this CPU", "nvcc 生成的 PTX，在本机 CPU 上运行"};
constexpr Text kWherePtxNote{"under the same checks", "检查项相同"};
constexpr Text kWherePtxNot{"no nvcc, or no kernel sources, on this machine", "本机没有 nvcc 或 kernel 源码"};
constexpr Text kKernelPtx{"nvcc's PTX for {target} on this CPU", "nvcc 为 {target} 生成的 PTX，在本机 CPU 上运行"};
constexpr Text kWhereGpu{"GPU", "GPU"};
constexpr Text kWhereGpuLive{"live", "实时运行"};
constexpr Text kWhereNotBuilt{"this build has no CUDA back end", "此构建不含 CUDA 后端"};
constexpr Text kWhereRecording{"recording", "录制结果"};
constexpr Text kWhereRecordingOn{"recording: {device}", "录制结果：{device}"};
constexpr Text kWhereNoRecording{"no recording of this problem", "当前问题没有录制结果"};
constexpr Text kTargetsFrom{"sm_{target} and later", "sm_{target} 及以上"};
constexpr Text kTargetsWhy{" ({why})", "（{why}）"};
constexpr Text kTargetsShared{"shared memory", "shared memory 容量"};

// What a recording says of itself.
struct RecordingLabel {
    const char* bytes;  // of which recording
    std::string device, date;
    Sentence error;  // why it cannot be shown; empty: it can
};
struct RecordingLabels {
    std::vector<RecordingLabel> known;
};

// Device and day stand in the file, which is read once. A damaged one has its error.
const RecordingLabel& label_of(AppState& app, const Recording& recording) {
    std::vector<RecordingLabel>& labels = own_state<RecordingLabels>(app).known;
    const auto known = std::ranges::find(labels, recording.bytes.data(), &RecordingLabel::bytes);
    if (known != labels.end()) return *known;
    RecordingLabel label{recording.bytes.data(), std::string(recording.device), {}, {}};
    try {
        const KernelRun run = read_recording(recording);
        label.device = run.device;
        label.date = run.date;
    } catch (const Error& error) { label.error = error.message(); }
    labels.push_back(std::move(label));
    return labels.back();
}

// Whether nvcc and the sources are there is asked once.
RunPlace ptx_place(const Ui& ui, const Recipe& recipe) {
    static const bool available = gpu::ptx::why_not_compile().empty();
    RunPlace place{.where = Where::Ptx, .title = ui.tr(kWherePtx), .note = ui.tr(kWherePtxNote)};
    place.current = recipe.where == Where::Ptx;
    place.available = available;
    if (!available) place.note = ui.tr(kWherePtxNot);
    return place;
}

RunPlace gpu_place(const Ui& ui, const Recipe& recipe) {
    const gpu::DeviceStatus& device = this_device();
    RunPlace place{.where = Where::LiveCuda, .title = ui.tr(kWhereGpu), .note = {}};
    place.current = recipe.where == Where::LiveCuda;
    place.available = device.available;
    if (!device.available) {
        place.note = device.built ? ui.tr(device.message) : std::string(ui.tr(kWhereNotBuilt));
        return place;
    }
    place.title = device.name;
    place.note = ui.tr(kWhereGpuLive);
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    try {
        if (kernel) gpu::check_device(*kernel, recipe.problem.dtype, device);
    } catch (const Error& error) {
        place.available = false;
        place.note = ui.tr(error.message());
    }
    return place;
}

RunPlace recording_place(AppState& app, const Recording& recording, const Recipe& recipe) {
    const RecordingLabel& label = label_of(app, recording);
    RunPlace place{.where = Where::Recorded, .recording = recording, .title = {}, .note = label.date};
    place.title = app.ui.tr(kWhereRecordingOn, {{"device", label.device}});
    place.current = recipe.where == Where::Recorded && recipe.recording.bytes.data() == recording.bytes.data();
    if (!label.error.empty()) {
        place.available = false;
        place.note = app.ui.tr(label.error);
    }
    return place;
}

// Every architecture that any kernel is there for, in order.
const std::vector<gpu::Target>& known_targets() {
    static const std::vector<gpu::Target> known = [] {
        std::vector<gpu::Target> all;
        for (const gpu::KernelInfo& kernel : gpu::kernels())
            all.insert(all.end(), kernel.targets.begin(), kernel.targets.end());
        std::ranges::sort(all);
        all.erase(std::unique(all.begin(), all.end()), all.end());
        return all;
    }();
    return known;
}

// Whether the kernel's largest tiles are more than a block of an architecture can have on chip.
bool too_large_for(const gpu::KernelInfo& kernel, DType dtype, gpu::Target target) {
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
    places.push_back({.where = Where::Host, .title = ui.tr(kWhereCpu), .note = ui.tr(kWhereCpuNote)});
    places.back().current = recipe.where == Where::Host;
    places.push_back(ptx_place(ui, recipe));
    places.push_back(gpu_place(ui, recipe));
    for (const Recording& recording : app.session.recordings)
        if (is_recording_of(recording, recipe)) places.push_back(recording_place(app, recording, recipe));
    if (std::ranges::none_of(places, [](const RunPlace& place) { return place.where == Where::Recorded; }))
        places.push_back({.where = Where::Recorded,
                          .title = ui.tr(kWhereRecording),
                          .note = ui.tr(kWhereNoRecording),
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
            return ui.tr(kKernelLive, {{"device", run.device}});
        case Where::Recorded:
            return ui.tr(kKernelRecorded, {{"device", run.device}, {"date", run.date}});
        case Where::Ptx:
            return ui.tr(kKernelPtx, {{"target", run.device}});
        case Where::Host:
            break;
    }
    return ui.tr(this_device().available ? kKernelHostChosen : kKernelHost);
}

std::string targets_text(const Ui& ui, const gpu::KernelInfo& kernel, DType dtype) {
    const std::vector<gpu::Target> targets = gpu::targets_of(kernel, dtype);
    if (targets.empty()) return {};
    const std::vector<gpu::Target>& known = known_targets();
    const auto first = std::ranges::find(known, targets.front());
    std::string text;
    if (std::equal(targets.begin(), targets.end(), first, known.end())) {
        text = ui.tr(kTargetsFrom, {{"target", gpu::text(targets.front())}});
    } else {
        text = gpu::text(targets);
    }
    if (first == known.begin()) return text;
    // Why not on older ones.
    std::string why;
    if (kernel.targets.front() < targets.front())
        why = name(dtype);
    else if (kernel_source(kernel.id).find("cp_async") != std::string_view::npos)
        why = "cp.async";
    else if (too_large_for(kernel, dtype, *std::prev(first)))
        why = ui.tr(kTargetsShared);
    return why.empty() ? text : text + ui.tr(kTargetsWhy, {{"why", why}});
}

}  // namespace flashstep::viz
