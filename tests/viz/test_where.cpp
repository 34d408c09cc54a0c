// Where a kernel runs is chosen in the app: this CPU, a GPU, a recording. No GPU takes part: recordings are the
// executor's runs in a recording's format, and the GPU of a build without CUDA is one that fails.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "core/io/trace_file.h"
#include "tests/viz/stage.h"
#include "viz/panels/where.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::Stage;

namespace {

constexpr Modifiers kCtrl{.ctrl = true, .shift = false, .alt = false};

// The executor's runs of presets, as if they were recordings of two devices.
struct ExecutorsRecordings {
    std::vector<std::string> bytes;
    std::vector<Recording> list;

    explicit ExecutorsRecordings(std::initializer_list<const char*> presets = {"n4d3", "n64"}) {
        for (const char* device : {"executor-a", "executor-b"})
            for (const char* id : presets) bytes.push_back(bytes_of_run(*find_preset(id), device));
        std::size_t next = 0;
        for (const char* device : {"executor-a", "executor-b"})
            for (const char* id : presets)
                list.push_back({device, find_preset(id)->id, find_preset(id)->kernel, bytes[next++]});
    }
    static KernelRun run_of(const Preset& preset, const std::string& device) {
        KernelRun run =
            gpu::run_kernel(*gpu::find_kernel(preset.kernel), preset.problem, preset.inputs(preset.problem), {});
        run.where = Where::Recorded, run.device = device, run.date = "2000-01-31";
        run.hbm.clear();  // a device counts none
        return run;
    }
    static std::string bytes_of_run(const Preset& preset, const std::string& device) {
        return io::kernel_run_bytes(run_of(preset, device));
    }
};

StartState preset(const char* id) {
    StartState start;
    start.lesson.clear();
    start.preset = id;
    return start;
}

const RunPlace* place_in(const std::vector<RunPlace>& places, std::string_view title) {
    const auto found = std::ranges::find(places, title, &RunPlace::title);
    return found == places.end() ? nullptr : &*found;
}

void choose(Stage& s, std::string_view title) {
    const auto places = run_places(s.app);
    const RunPlace* place = place_in(places, title);
    REQUIRE(place);
    REQUIRE(place->available);
    choose_place(s.app, *place);
    s.settle();
}

}  // namespace

TEST_CASE("an executor's run in a recording's format is shown, labelled and compared as a recording") {
    const ExecutorsRecordings recorded;
    Stage s(preset("n4d3"));
    s.app.session.recordings = recorded.list;
    choose(s, "recording: executor-b");
    const Run& run = *s.app.run;
    CHECK(run.kernel_failure == KernelFailure::None);
    REQUIRE(run.kernel_run);
    CHECK(run.kernel_run->where == Where::Recorded);
    REQUIRE(run.comparison);
    CHECK(run.comparison->verdict == Verdict::Equal);
    CHECK(run.comparison->tiles.size() > 10);
    CHECK(where_it_ran(s.app.ui, *run.kernel_run) == "recorded on executor-b, 2000-01-31");
    const auto places = run_places(s.app);
    CHECK(std::ranges::count(places, true, &RunPlace::current) == 1);
    CHECK(place_in(places, "recording: executor-b")->current);
    choose(s, "this CPU");
    CHECK(s.app.run->kernel_run->where == Where::Host);
    CHECK(s.app.run->recipe.recording.bytes.empty());
}

TEST_CASE("a recording that holds another number differs from the mirror in that number") {
    const Preset& n4d3 = *find_preset("n4d3");
    KernelRun wrong = ExecutorsRecordings::run_of(n4d3, "executor");
    wrong.captured.at({"P_ij", 0, 1, 0})(1, 1) += 0.01;
    const std::string bytes = io::kernel_run_bytes(wrong);
    Recipe recipe = recipe_of(*find_preset("n4d3"));
    recipe.where = Where::Recorded;
    recipe.recording = {"executor", n4d3.id, n4d3.kernel, bytes};
    const auto run = std::make_shared<const Run>(make_run(recipe));
    REQUIRE(run->comparison);
    CHECK(run->comparison->verdict == Verdict::Different);
    REQUIRE(run->comparison->first);
    CHECK(run->comparison->first->tensor == "P_ij");
    CHECK(std::tuple(run->comparison->first->i, run->comparison->first->j) == std::tuple(1, 0));
    CHECK(run->first_difference == run->comparison->first->step);
}

TEST_CASE("a recording is offered only for its preset as it is, and an edit falls back to this CPU and says so") {
    const ExecutorsRecordings recorded;
    const std::function<void(Stage&)> edits[] = {
        [](Stage& s) { s.app.session.set_cell(InputMatrix::Q, 0, 0, 0, 7); },
        [](Stage& s) { s.app.session.set_cell(InputMatrix::dO, 0, 0, 0, 7); },
        [](Stage& s) { choose_kernel(s.app, "fa2_forward_2_warps"); },
        [](Stage& s) { choose_algorithm(s.app, *find_algorithm("fa1_forward")); },
        [](Stage& s) {
            Problem p = s.problem();
            p.br = 1;
            s.app.session.resize(p);
        },
        [](Stage& s) { s.app.open_preset(*find_preset("extreme")); },
    };
    for (const auto& edit : edits) {
        Stage s(preset("n4d3"));
        s.app.session.recordings = recorded.list;
        choose(s, "recording: executor-a");
        CHECK_FALSE(s.app.session.left_recording());
        edit(s);
        s.settle();
        CHECK(s.app.run->recipe.where == Where::Host);
        REQUIRE(s.app.run->kernel_run);
        CHECK(s.app.run->kernel_run->where == Where::Host);
        REQUIRE(s.app.session.left_recording());
        CHECK(s.app.session.left_recording()->preset == "n4d3");
        const auto places = run_places(s.app);
        CHECK(place_in(places, "recording: executor-a") == nullptr);
        REQUIRE(place_in(places, "recording"));
        CHECK_FALSE(place_in(places, "recording")->available);
        CHECK(place_in(places, "recording")->note == "no recording of this problem");
        // Undo brings the recording again, and nothing is left to be said.
        s.press(Key::Z, kCtrl);
        s.settle();
        CHECK(s.app.run->recipe.where == Where::Recorded);
        CHECK(s.app.run->kernel_run->where == Where::Recorded);
        CHECK_FALSE(s.app.session.left_recording());
    }
}

TEST_CASE("a recording of something else is refused where it is asked for directly") {
    const ExecutorsRecordings recorded;
    Recipe recipe = recipe_of(*find_preset("n4d3"));
    recipe.where = Where::Recorded;
    recipe.recording = recorded.list[1];  // of n64
    REQUIRE(recipe.recording.preset == "n64");
    const auto run = std::make_shared<const Run>(make_run(recipe));
    CHECK(run->kernel_failure == KernelFailure::Recording);
    CHECK_FALSE(run->kernel_run);
    CHECK(run->kernel_message.en.find("none of this kernel, problem and inputs") != std::string::npos);
    CHECK(run->trace.last_step() > 0);
}

TEST_CASE("a mistake in the mirror leaves the recording, which shows where the mirror is wrong") {
    const ExecutorsRecordings recorded;
    Stage s(preset("n4d3"));
    s.app.session.recordings = recorded.list;
    choose(s, "recording: executor-a");
    choose_fault(s.app, find_fault("no-rescale"));
    s.settle();
    CHECK(s.app.run->recipe.where == Where::Recorded);
    REQUIRE(s.app.run->comparison);
    REQUIRE(s.app.run->comparison->first);
    CHECK(s.app.run->comparison->first->step == s.app.run->first_difference);
    CHECK_FALSE(s.app.session.left_recording());
}

TEST_CASE("another preset keeps to the same device's recordings") {
    const ExecutorsRecordings recorded;
    Stage s(preset("n4d3"));
    s.app.session.recordings = recorded.list;
    choose(s, "recording: executor-b");
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    REQUIRE(s.app.run->kernel_run);
    CHECK(s.app.run->kernel_run->where == Where::Recorded);
    CHECK(s.app.run->kernel_run->device == "executor-b");
    CHECK(s.app.run->recipe.recording.preset == "n64");
    CHECK(s.app.run->comparison->verdict == Verdict::Equal);
    CHECK_FALSE(s.app.session.left_recording());
}

TEST_CASE("a damaged recording says so in the list and in the app, which stays alive with its trace") {
    ExecutorsRecordings recorded({"n4d3"});
    recorded.bytes[0][recorded.bytes[0].size() / 2] ^= 1;
    Stage s(preset("n4d3"));
    s.app.session.recordings = std::span(recorded.list).first(1);
    const auto places = run_places(s.app);
    REQUIRE(places.size() == 4);  // this CPU, PTX on it, the GPU, the recording
    CHECK_FALSE(places[3].available);
    CHECK(places[3].note.find("executor-a/n4d3.fa2_forward_1_tile.fst") != std::string::npos);
    choose_place(s.app, places[3]);  // nothing happens
    CHECK_FALSE(s.app.session.busy());
    s.app.session.edit([&](Recipe& recipe) { recipe.where = Where::Recorded, recipe.recording = recorded.list[0]; });
    s.settle();
    CHECK(s.app.session.error() == "");
    CHECK(s.app.run->kernel_failure == KernelFailure::Recording);
    CHECK(s.app.run->kernel_message.en.find("executor-a/n4d3.fa2_forward_1_tile.fst") != std::string::npos);
    CHECK(s.app.run->trace.last_step() > 0);
    CHECK(s.app.player->count() > 0);
}

TEST_CASE("a GPU that is not there is a message beside the trace, and this CPU is a click away") {
    if (gpu::device_status().available) return;
    Recipe recipe = recipe_of(*find_preset("n4d3"));
    recipe.where = Where::LiveCuda;
    Run made;
    CHECK_NOTHROW(made = make_run(recipe));
    CHECK(made.kernel_failure == KernelFailure::Device);
    CHECK(made.kernel_message.en.starts_with(gpu::device_status().message.en));
    CHECK(made.trace.last_step() > 0);

    Stage s(preset("n4d3"));
    const auto asked = [&] {
        if (s.app.session.recipe().where != Where::LiveCuda)
            s.app.session.edit([](Recipe& r) { r.where = Where::LiveCuda; });
        s.settle();
    };
    asked();
    CHECK(s.app.session.error() == "");
    CHECK(s.app.run->kernel_failure == KernelFailure::Device);
    for (int step = 0; step < 5; ++step) s.press(Key::Right);
    CHECK(s.at() == 5);
    // Another preset is asked of the same GPU.
    s.app.open_preset(*find_preset("n64"));
    s.settle();
    CHECK(s.app.run->recipe.where == Where::LiveCuda);
    bool back = false;
    for (float y = 400; y < 598 && !back; y += 9) {
        asked();
        s.click(1040, y);
        s.settle();
        back = s.app.run->recipe.where == Where::Host;
    }
    CHECK(back);
    CHECK(s.app.run->kernel_run);
}

TEST_CASE("what the kernel does not run is said of the problem, not of the GPU") {
    Recipe recipe = recipe_of(*find_preset("n4d3"));
    recipe.where = Where::LiveCuda;
    recipe.kernel = "fa2_forward_3_mma";  // fp16 alone
    CHECK(make_run(recipe).kernel_failure == KernelFailure::Problem);
}

TEST_CASE("a place that cannot be used says why, and cannot be chosen") {
    Stage s(preset("n4d3"));
    for (const Language language : {Language::English, Language::Chinese}) {
        s.app.ui.language = language;
        for (const RunPlace& place : run_places(s.app)) {
            CHECK(place.title != "");
            CHECK(place.note != "");
            if (place.available) continue;
            choose_place(s.app, place);
            CHECK_FALSE(s.app.session.busy());
        }
    }
    s.app.ui.language = Language::English;
    const auto places = run_places(s.app);
    CHECK(places[0].where == Where::Host);
    CHECK(places[0].current);
    if (!gpu::device_status().built) CHECK(place_in(places, "GPU")->note == "this build has no CUDA back end");
}

TEST_CASE("the kernel list offers the places, each chosen by a click") {
    const ExecutorsRecordings recorded;
    Stage s(preset("n4d3"));
    s.app.session.recordings = recorded.list;
    std::vector<std::string_view> reached;
    for (float y = 58; y < 260; y += 7) {
        if (s.app.session.recipe().kernel != "fa2_forward_1_tile")
            choose_kernel(s.app, "fa2_forward_1_tile"), s.settle();
        choose(s, "recording: executor-a");
        s.press(Key::Escape);
        s.click(580, 28);
        s.frame();
        s.click(620, y);
        s.settle();
        const Recipe& recipe = s.app.run->recipe;
        CHECK(recipe.where != Where::LiveCuda);
        if (recipe.algorithm != "fa2_forward") continue;
        reached.push_back(recipe.where == Where::Host ? "host" : recipe.recording.device);
    }
    for (const std::string_view place : {"host", "executor-a", "executor-b"})
        CHECK_MESSAGE(std::ranges::find(reached, place) != reached.end(), place);
}

TEST_CASE("places are chosen by keyboard in the picker, and one that is not available stays where it is") {
    const ExecutorsRecordings recorded;
    Stage s(preset("n4d3"));
    s.app.session.recordings = recorded.list;
    const auto pick = [&](const char* words) {
        s.press(Key::P, kCtrl);
        s.frame();
        s.type(words);
        s.frame();
        s.press(Key::Enter);
        s.settle();
    };
    pick("runs executor-b");
    CHECK(s.app.run->recipe.recording.device == "executor-b");
    CHECK_FALSE(s.app.picker_open);
    pick("runs this cpu");
    CHECK(s.app.run->recipe.where == Where::Host);
    if (gpu::device_status().available) return;
    pick("runs gpu back end");
    CHECK(s.app.picker_open);
    CHECK(s.app.run->recipe.where == Where::Host);
    s.press(Key::Escape);
    CHECK_FALSE(s.app.picker_open);
}

TEST_CASE("each kernel says on which architectures it is there for a number format, and why not on older ones") {
    Ui ui;
    const auto text = [&](const char* id, DType dtype) { return targets_text(ui, *gpu::find_kernel(id), dtype); };
    CHECK(text("fa2_forward_1_tile", DType::Fp32) == "sm_75 and later");
    CHECK(text("fa2_forward_3_mma", DType::Fp16) == "sm_75 and later");
    CHECK(text("fa2_forward_3_mma", DType::Bf16) == "sm_80 and later (bf16)");
    CHECK(text("fa2_forward_5_cp_async", DType::Fp16) == "sm_80 and later (cp.async)");
    CHECK(text("fa2_backward_3_mma", DType::Fp16) == "sm_80 and later (shared memory)");
    ui.language = Language::Chinese;
    CHECK(text("fa2_forward_5_cp_async", DType::Fp16) == "sm_80 及以上（cp.async）");
    ui.language = Language::English;
    for (const gpu::KernelInfo& kernel : gpu::kernels()) {
        for (const DType dtype : kernel.dtypes) {
            CAPTURE(kernel.id);
            const std::string said = targets_text(ui, kernel, dtype);
            const auto targets = gpu::targets_of(kernel, dtype);
            REQUIRE_FALSE(targets.empty());
            CHECK(said.starts_with("sm_" + gpu::text(targets.front())));
            CHECK((targets.front() == 75) == (said.find('(') == std::string::npos));
        }
    }
    gpu::KernelInfo gap = *gpu::find_kernel("fa2_forward_1_tile");
    gap.targets = {75, 90};
    CHECK(targets_text(ui, gap, DType::Fp32) == "sm_75, sm_90");
}

TEST_CASE("wild clicking and typing among places, kernels and recordings, damaged ones too, crashes nothing") {
    ExecutorsRecordings recorded;
    recorded.bytes.back().resize(recorded.bytes.back().size() / 2);
    recorded.list.back().bytes = recorded.bytes.back();
    for (const unsigned seed : {1u, 2u}) {
        Stage s(preset("n4d3"));
        s.app.session.recordings = recorded.list;
        std::mt19937 random(seed);
        const auto below = [&](unsigned n) { return random() % n; };
        for (int k = 0; k < 250; ++k) {
            const auto places = run_places(s.app);
            switch (below(8)) {
                case 0:
                    choose_place(s.app, places[below(static_cast<unsigned>(places.size()))]);
                    break;
                case 1:
                    s.app.session.edit([&](Recipe& r) {
                        r.where = static_cast<Where>(below(3)), r.recording = recorded.list[below(4)];
                    });
                    break;
                case 2:
                    s.app.open_preset(*find_preset(below(2) ? "n4d3" : "n64"));
                    break;
                case 3:
                    s.press(below(2) ? Key::Z : Key::Y, kCtrl);
                    break;
                case 4:
                    s.press(below(2) ? Key::Escape : Key::C);
                    break;
                case 5:
                    s.click(380 + static_cast<float>(below(300)), 28);
                    break;
                default:
                    s.click(static_cast<float>(below(1280)), static_cast<float>(below(720)));
            }
            s.frame();
            if (below(3) == 0) s.settle();
        }
        s.settle();
        REQUIRE(s.app.run);
        CHECK(s.app.run->trace.last_step() > 0);
    }
}
