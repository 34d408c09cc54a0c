// The panels that show a run, drawn and clicked without a window: at every step, in every size, theme and language.
#include <doctest/doctest.h>
#include <imgui.h>

#include <algorithm>
#include <string>
#include <vector>

#include "lab/presets.h"
#include "viz/panels/cells.h"
#include "viz/panels/explain.h"
#include "viz/panels/memory.h"
#include "viz/panels/panels.h"
#include "viz/panels/score_map.h"
#include "viz/shell/frame.h"
#include "viz/shell/headless.h"
#include "viz/widgets/child.h"

using namespace flashstep;
using namespace flashstep::viz;

namespace {

using Draw = void (*)(AppState&);

struct Case {
    const char *preset, *algorithm, *kernel;
};
constexpr Case kCases[] = {{"n4d3", "fa2_forward", "fa2_forward_1_tile"},
                           {"n4d3", "standard_attention", "standard_1_naive"},
                           {"n4d3", "online_softmax", ""},
                           {"n4d3", "safe_softmax", ""},
                           {"n64", "fa2_forward", "fa2_forward_1_tile"},
                           {"n64_causal", "fa2_forward", "fa2_forward_1_tile"},
                           {"n64", "standard_attention", ""},
                           {"n4d3", "fa1_forward", ""},
                           {"n4d3", "fa2_backward", ""},
                           {"n64", "standard_backward", ""},
                           {"n4d3", "softmax_backward", ""}};

std::shared_ptr<const Run> run_of(const Case& which) {
    const Preset& preset = *find_preset(which.preset);
    Recipe recipe;
    recipe.algorithm = which.algorithm;
    recipe.kernel = which.kernel;
    recipe.problem = preset.problem;
    recipe.inputs = preset.inputs(preset.problem);
    return std::make_shared<const Run>(make_run(recipe));
}

const ImVec2 kWindows[] = {{1280, 720}, {1920, 1080}};

// As the frame places them.
Box box_of(int size, std::string_view panel) {
    return frame_layout(kWindows[size], 1, 0, layout_named("workbench").whole).panels.box(panel);
}

void place(AppState& app, const char* id, const Box& box, Draw draw) {
    ImGui::SetCursorScreenPos({box.x, box.y});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, ImVec2(12, 12));
    begin_padded_child(id, {box.w, box.h});
    ImGui::PopStyleVar();
    draw(app);
    ImGui::EndChild();
}

struct Stage {
    explicit Stage(int size_ = 0) : size(size_), screen(kWindows[size_].x, kWindows[size_].y) {}
    int size;
    Headless screen;
    AppState app;

    void open(std::shared_ptr<const Run> run) {
        app.player.reset();
        app.run = std::move(run);
        app.player = std::make_unique<Player>(app.run->trace);
        app.selected.reset();
        app.hovered.reset();
        app.time = 100;
    }
    std::function<void(Ui&)> all = [this](Ui& ui) {
        app.ui.fonts = ui.fonts;
        app.ui.scale = ui.scale;
        app.ui.hot.begin_frame();
        for (const char* id : {"memory", "map", "explain", "traffic", "compare"})
            place(app, id, box_of(size, id), find_panel(id)->draw);
    };
    ImDrawData* frame() { return screen.frame(all); }
};

bool overlap(const MemoryItem& a, const MemoryItem& b) {
    return a.corner.x < b.corner.x + b.extent.x && b.corner.x < a.corner.x + a.extent.x &&
           a.corner.y < b.corner.y + b.extent.y && b.corner.y < a.corner.y + a.extent.y;
}

MemoryState& memory_of(AppState& app) { return run_state<MemoryState>(app); }

ImVec2 middle_of_cell(AppState& app, const MemoryItem& item, int row, int col) {
    const ImVec2 origin = memory_of(app).origin;
    return {origin.x + item.grid.x + item.fit.cell_w * (static_cast<float>(col) + 0.5f),
            origin.y + item.grid.y + item.fit.cell_h * (static_cast<float>(row) + 0.5f)};
}

const MemoryItem& item_of(AppState& app, std::string_view name, Space space) {
    const int tensor = app.run->trace.find(name, space);
    REQUIRE(tensor >= 0);
    const MemoryLayout& l = memory_of(app).layout;
    return space == Space::Hbm ? l.shelf[l.place[tensor]] : l.bench[l.place[tensor]];
}

}  // namespace

TEST_CASE("every panel draws every step of every kind of run in both sizes, themes and languages") {
    for (const int size : {0, 1}) {
        Stage stage(size);
        for (const Case& which : kCases) {
            stage.open(run_of(which));
            int turn = 0;
            for (int s = 0; s <= stage.app.player->last(); ++s, ++turn) {
                stage.app.ui.mode = turn & 1 ? ThemeMode::Light : ThemeMode::Dark;
                stage.app.ui.language = turn & 2 ? Language::Chinese : Language::English;
                stage.app.seek(s);
                stage.app.time = stage.app.step_time + (turn & 4 ? 0.1 : 1.0);  // on its way, and at rest
                const ImDrawData* data = stage.frame();
                CHECK(data->TotalVtxCount > 500);
                // Nothing is drawn without a clip rectangle inside the window.
                for (int l = 0; l < data->CmdListsCount; ++l) {
                    for (const ImDrawCmd& command : data->CmdLists[l]->CmdBuffer) {
                        CHECK(command.ClipRect.z <= kWindows[size].x + 1);
                        CHECK(command.ClipRect.w <= kWindows[size].y + 1);
                    }
                }
            }
        }
    }
}

TEST_CASE("every matrix and tile has a place of its own inside the memory panel and keeps it at every step") {
    for (const int size : {0, 1}) {
        Stage stage(size);
        for (const Case& which : kCases) {
            INFO(which.preset << " " << which.algorithm << " at " << kWindows[size].x);
            stage.open(run_of(which));
            stage.frame();
            const MemoryLayout first = memory_of(stage.app).layout;
            std::vector<MemoryItem> items = first.shelf;
            items.insert(items.end(), first.bench.begin(), first.bench.end());
            CHECK(items.size() == stage.app.run->trace.tensors.size());
            for (std::size_t a = 0; a < items.size(); ++a) {
                CHECK(items[a].corner.x >= 0);
                CHECK(items[a].corner.x + items[a].extent.x <= box_of(size, "memory").w - 24 + 1);
                CHECK(items[a].corner.y + items[a].extent.y <= box_of(size, "memory").h - 24 + 1);
                for (std::size_t b = a + 1; b < items.size(); ++b) CHECK(!overlap(items[a], items[b]));
            }
            for (int s = 0; s <= stage.app.player->last(); s += 3) {
                stage.app.seek(s);
                stage.frame();
                const MemoryLayout& now = memory_of(stage.app).layout;
                for (std::size_t k = 0; k < first.bench.size(); ++k) {
                    CHECK(now.bench[k].grid.x == first.bench[k].grid.x);
                    CHECK(now.bench[k].grid.y == first.bench[k].grid.y);
                    CHECK(now.bench[k].fit.cell_w == first.bench[k].fit.cell_w);
                }
            }
        }
    }
}

TEST_CASE("the first lesson shows numbers in every cell at 1280 x 720") {
    Stage stage;
    for (const char* algorithm : {"fa2_forward", "standard_attention", "online_softmax"}) {
        INFO(algorithm);
        stage.open(run_of({"n4d3", algorithm, ""}));
        stage.frame();
        for (const auto* zone : {&memory_of(stage.app).layout.shelf, &memory_of(stage.app).layout.bench})
            for (const MemoryItem& item : *zone) CHECK(item.fit.number_px >= 12);
    }
}

TEST_CASE("a tile stands below the matrix that it is loaded from or stored to") {
    Stage stage;
    stage.open(run_of(kCases[0]));
    stage.frame();
    for (const auto& [matrix, tile] : {std::pair{"Q", "Q_i"}, {"K", "K_j"}, {"V", "V_j"}, {"O", "O_i"}, {"L", "L_i"}}) {
        CHECK(item_of(stage.app, matrix, Space::Hbm).grid.x == item_of(stage.app, tile, Space::Sram).grid.x);
        CHECK(item_of(stage.app, matrix, Space::Hbm).grid.y < item_of(stage.app, tile, Space::Sram).grid.y);
    }
}

TEST_CASE("a click on a cell selects it, and the explanation is about what it shows") {
    Stage stage;
    stage.open(run_of(kCases[0]));
    stage.app.seek(stage.app.player->first_step_of_tile(0, 1) + 2);  // S_ij of tile (1, 2)
    stage.app.time = 200;
    stage.frame();
    const ImVec2 score = middle_of_cell(stage.app, item_of(stage.app, "S_ij", Space::Sram), 1, 0);
    stage.screen.click(score.x, score.y, stage.all);
    REQUIRE(stage.app.selected);
    CHECK(*stage.app.selected == CellRef{stage.app.run->trace.find("S_ij", Space::Sram), 1, 0});
    REQUIRE(stage.app.hovered);
    stage.frame();
    CHECK(run_state<Explained>(stage.app).explanation.cell == "S_{ij}[2,1]");
    const CellVersion shown = version_of(stage.app, *stage.app.selected);
    CHECK(run_state<Explained>(stage.app).explanation.value ==
          stage.app.run->trace.value(stage.app.run->trace.versions[shown.version])(1, 0));
    const std::optional<double> kernel = kernel_cell(stage.app, shown);
    REQUIRE(kernel);
    CHECK(*kernel == doctest::Approx(run_state<Explained>(stage.app).explanation.value));

    const ImVec2 key = middle_of_cell(stage.app, item_of(stage.app, "K", Space::Hbm), 3, 2);
    stage.screen.click(key.x, key.y, stage.all);
    CHECK(*stage.app.selected == CellRef{stage.app.run->trace.find("K", Space::Hbm), 3, 2});
}

TEST_CASE("a click on a tile of the score map seeks to its first step, and a skipped tile does nothing") {
    Stage stage;
    stage.open(run_of(kCases[5]));
    stage.frame();
    const auto tile = [&](int i, int j) {
        const ScoreMap& map = run_state<ScoreMap>(stage.app);
        return ImVec2(map.origin.x + map.cell * (static_cast<float>(j) + 0.5f),
                      map.origin.y + map.cell * (static_cast<float>(i) + 0.5f));
    };
    stage.screen.click(tile(2, 1).x, tile(2, 1).y, stage.all);
    CHECK(stage.app.player->current().i == 2);
    CHECK(stage.app.player->current().j == 1);
    CHECK(stage.app.player->step() == stage.app.player->first_step_of_tile(2, 1));
    const int before = stage.app.player->step();
    stage.screen.click(tile(0, 3).x, tile(0, 3).y, stage.all);
    CHECK(stage.app.player->step() == before);
}

TEST_CASE("the block whose tile is on chip is known at every step") {
    Stage stage;
    stage.open(run_of(kCases[0]));
    stage.frame();
    const Trace& trace = stage.app.run->trace;
    const auto& moves = memory_of(stage.app).moves;
    for (int s = 1; s <= trace.last_step(); ++s) {
        const Step& step = trace.steps[s];
        const int k_block = block_on_chip(moves[trace.find("K", Space::Hbm)], s);
        CHECK(k_block == (trace.tile_at(trace.find("K_j", Space::Sram), s) >= 0 ? step.j : -1));
        const int o_block = block_on_chip(moves[trace.find("O", Space::Hbm)], s);
        CHECK(o_block == (trace.tile_at(trace.find("O_i", Space::Sram), s) >= 0 ? step.i : -1));
    }
}

TEST_CASE("a cell's relatives are its operands that are still there and the tiles made from it") {
    Stage stage;
    stage.open(run_of(kCases[0]));
    const Trace& trace = stage.app.run->trace;
    const int score = trace.find("S_ij", Space::Sram);
    int step = 1;
    while (trace.steps[step].line != 9) ++step;
    stage.app.seek(step);
    stage.frame();
    const ImVec2 at = middle_of_cell(stage.app, item_of(stage.app, "S_ij", Space::Sram), 0, 0);
    stage.screen.move(at.x, at.y, stage.all);
    REQUIRE(stage.app.hovered);
    CHECK(stage.app.hovered->tensor == score);
    CHECK(operands_of(trace, trace.versions[trace.tile_at(score, step)].expr).size() == 2);
}

TEST_CASE("panels without a run say how to get one") {
    Stage stage;
    const ImDrawData* data = stage.frame();
    CHECK(data->TotalVtxCount > 100);
    CHECK(stage.app.states.size() == 0);
}
