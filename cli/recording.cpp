// flashstep record: runs the presets worth a recording on the GPU and keeps what their kernels captured.
#include "cli/recording.h"

#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/io/file.h"
#include "core/io/trace_file.h"
#include "gpu/run.h"
#include "lab/recorded.h"
#include "lessons/to_record.h"

namespace flashstep::cli {
namespace {

struct State {
    std::string folder = "lessons/recorded";
};

int run_record(const State& state) {
    if (const gpu::DeviceStatus device = gpu::device_status(); !device.available) {
        print_note(fmt::format("nothing is recorded: {}", device.message.en));
        return kUnavailable;
    }
    const std::string date = today();
    bool all = true;
    for (const std::string_view id : presets_to_record()) {
        const Preset& preset = *find_preset(id);
        Recipe recipe = recipe_of(preset);
        recipe.where = Where::LiveCuda;
        try {
            print_page(write_recording(state.folder, preset, make_run(recipe, nullptr, Parts::Verdict), date) + "\n");
        } catch (const Error& error) {
            print_error(error);
            all = false;
        }
    }
    return all ? kOk : kDifferent;
}

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>();
    options.text("--out", state->folder, "folder, with one for each device in it (lessons/recorded)", "DIR");
    return [state] { return run_record(*state); };
}

}  // namespace

std::string device_folder(std::string_view device) {
    std::string folder;
    for (const char c : device) {
        const bool upper = c >= 'A' && c <= 'Z';
        if (upper || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            folder += upper ? static_cast<char>(c - 'A' + 'a') : c;
        else if (!folder.empty() && folder.back() != '-')
            folder += '-';
    }
    if (folder.ends_with('-')) folder.pop_back();
    if (folder.empty()) throw Error(fmt::format("the device's name, {}, makes no folder's name", io::quoted(device)));
    return folder;
}

std::string write_recording(const std::string& folder, const Preset& preset, const Run& made,
                            std::string_view date) {
    if (!made.kernel_run) throw Error(fmt::format("{}: {}", preset.id, made.kernel_message.en));
    KernelRun run = *made.kernel_run;
    if (run.where != Where::LiveCuda || run.device.empty())
        throw Error(fmt::format("{}: only a run on a GPU can be recorded", preset.id));
    if (made.comparison->verdict != Verdict::Equal)
        throw Error(fmt::format("{}: {} differs from its mirror on {}, so it is not recorded{}", preset.id,
                                preset.kernel, run.device,
                                made.comparison->first ? ": " + describe(*made.comparison->first, preset.problem)
                                                         : std::string()),
                    fmt::format("`flashstep check {} --preset {} --on cuda` says more", preset.kernel, preset.id));
    run.where = Where::Recorded;
    run.date = date;
    const std::filesystem::path path =
        std::filesystem::path(folder) / device_folder(run.device) / recording_name(preset.id, preset.kernel);
    std::error_code failed;
    std::filesystem::create_directories(path.parent_path(), failed);
    if (failed)
        throw Error(fmt::format("the folder {} cannot be made: {}", path.parent_path().string(), failed.message()));
    io::write_kernel_run(path.string(), run);
    return path.string();
}

const Command kRecord{"record",
                      "Runs the presets' kernels on a GPU and keeps what they captured, for machines without one", add};

}  // namespace flashstep::cli
