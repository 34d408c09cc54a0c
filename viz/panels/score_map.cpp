// Attention's own picture: the score matrix in tiles, done, now, to come, skipped by the mask. The order in which the
// loops walk it is visible at a glance.
#include "viz/panels/score_map.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "viz/panels/cells.h"
#include "viz/panels/panels.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kMapDone{"done", "已完成"};
constexpr Text kMapNow{"now", "当前"};
constexpr Text kMapToCome{"to come", "待计算"};
constexpr Text kMapSkipped{"skipped by the mask", "因掩码跳过"};
constexpr Text kMapPartly{"seen, comes again", "已访问，还会再访问"};
constexpr Text kMapTile{"query block {i}, key block {j}", "第 {i} 个 query 块，第 {j} 个 key 块"};
constexpr Text kMapCovers{"rows {rows}, columns {columns}", "行 {rows}，列 {columns}"};
constexpr Text kMapSteps{"steps {from} to {to}", "第 {from} 步到第 {to} 步"};
constexpr Text kMapWhole{"Each line is one library call over the whole matrix.",
                         "每一行是一次库函数调用，处理整个矩阵。"};
constexpr Text kMapHidden{"hidden by the mask", "被掩码屏蔽"};

enum class State { Done, Partly, Now, ToCome, Skipped };

// One frame of the panel.
struct MapView {
    AppState& app;
    ScoreMap& map;
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Step& now = app.player->current();
    const int step = app.player->step();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImFont* small = ui.fonts.small;
    ImFont* digits = ui.fonts.number_small;

    const ScoreMap::Tile& tile(int i, int j) const { return map.tiles[static_cast<std::size_t>(i) * map.cols + j]; }

    State state(const ScoreMap::Tile& tile, bool current) const {
        if (tile.first < 0) return State::Skipped;
        if (current) return State::Now;
        if (tile.last < step) return State::Done;
        return tile.first < step ? State::Partly : State::ToCome;
    }
    State state(int i, int j) const { return state(tile(i, j), now.i == i && now.j == j); }

    // A tile, or a run of equal small ones.
    void paint(State what, ImVec2 a, ImVec2 b) const {
        const Rgb hue = t.of(Family::S);
        const float side = std::min(b.x - a.x, b.y - a.y);
        switch (what) {
            case State::Done:
                draw->AddRectFilled(a, b, u32(mix(t.panel, hue, 0.75f)));
                break;
            case State::Partly:
                draw->AddRectFilled(a, b, u32(t.raised));
                draw->AddTriangleFilled({a.x, b.y}, {a.x, a.y}, {b.x, b.y}, u32(mix(t.panel, hue, 0.55f)));
                break;
            case State::ToCome:
                draw->AddRectFilled(a, b, u32(t.raised));
                if (side >= ui.px(6)) draw->AddRect(a, b, u32(t.line));
                break;
            case State::Skipped:
                draw->AddRectFilled(a, b, u32(t.panel));
                hatch(draw, a, b, u32(t.quiet, 0.7f), ui.px(5));
                if (side >= ui.px(6)) draw->AddRect(a, b, u32(t.line));
                break;
            case State::Now:
                draw->AddRectFilled(a, b, u32(mix(t.panel, hue, 0.35f)));
                draw->AddRect({a.x - 1, a.y - 1}, {b.x + 1, b.y + 1}, u32(t.accent), ui.px(2), 0,
                              std::max(2.0f, ui.px(2)));
                if (side >= ui.px(10))
                    draw->AddCircleFilled({(a.x + b.x) / 2, (a.y + b.y) / 2}, side * 0.14f, u32(t.accent));
                break;
        }
    }

    // Lines over what masks hide of the scores, each `w` x `h` large, the first at `origin`.
    void hidden_scores(ImVec2 origin, float w, float h) const {
        for (const ScoreMap::Hidden& part : map.hidden) {
            const ImVec2 a(std::round(origin.x + w * static_cast<float>(part.col)),
                           std::round(origin.y + h * static_cast<float>(part.row)));
            const ImVec2 b(std::round(origin.x + w * static_cast<float>(part.col + part.cols)),
                           std::round(origin.y + h * static_cast<float>(part.row + part.rows)));
            hidden_ground(a, b);
        }
    }
    void hidden_ground(ImVec2 a, ImVec2 b) const {
        draw->AddRectFilled(a, b, u32(t.panel, 0.55f));
        hatch(draw, a, b, u32(t.text, 0.55f), ui.px(5));
    }

    // Fills from the right and returns how far it came.
    float legend(ImVec2 at, float width, bool partly, bool skipped) const {
        const std::pair<State, Text> entries[] = {{State::Done, kMapDone},
                                                  {State::Now, kMapNow},
                                                  {State::ToCome, kMapToCome},
                                                  {State::Partly, kMapPartly},
                                                  {State::Skipped, kMapSkipped}};
        const float side = std::round(ui.px(10)), line = std::round(ui.px(18));
        float x = at.x, y = at.y;
        for (const auto& [what, label] : entries) {
            if ((what == State::Partly && !partly) || (what == State::Skipped && !skipped)) continue;
            const float w = side + ui.px(6) + text_width(small, ui.tr(label));
            if (x > at.x && x + w > at.x + width) {
                x = at.x;
                y += line;
            }
            paint(what, {std::round(x), y + ui.px(3)}, {std::round(x) + side, y + ui.px(3) + side});
            draw_text(draw, small, {x + side + ui.px(6), y}, u32(t.quiet), ui.tr(label));
            x += w + ui.px(12);
        }
        if (!map.hidden.empty()) {
            const float w = side + ui.px(6) + text_width(small, ui.tr(kMapHidden));
            if (x > at.x && x + w > at.x + width) x = at.x, y += line;
            const ImVec2 a(std::round(x), y + ui.px(3)), b(a.x + side, a.y + side);
            paint(State::Done, a, b);
            hidden_ground(a, b);
            draw_text(draw, small, {x + side + ui.px(6), y}, u32(t.quiet), ui.tr(kMapHidden));
        }
        return y + line - at.y;
    }
    float legend_height(float width, bool partly, bool skipped) const {
        float x = 0, y = std::round(ui.px(18));
        const float side = std::round(ui.px(10));
        for (const auto& [show, label] : {std::pair{true, kMapDone},
                                          {true, kMapNow},
                                          {true, kMapToCome},
                                          {partly, kMapPartly},
                                          {skipped, kMapSkipped},
                                          {!map.hidden.empty(), kMapHidden}}) {
            if (!show) continue;
            const float w = side + ui.px(6) + text_width(small, ui.tr(label));
            if (x > 0 && x + w > width) x = 0, y += std::round(ui.px(18));
            x += w + ui.px(12);
        }
        return y;
    }

    void axis(ImVec2 origin, float cell) const {
        // "j" above with its numbers, "i" at the left; only as many numbers as have room.
        const float gutter = ui.px(kGridGutter);
        const auto every = [&](float room) {
            int n = 1;
            for (const int k : {1, 2, 5, 10, 20, 50, 100, 200, 500}) {
                n = k;
                if (cell * static_cast<float>(k) >= room) break;
            }
            return n;
        };
        const auto number = [&](int value, ImVec2 middle, bool current) {
            const std::string text = std::to_string(value);
            const ImVec2 size = text_size(digits, text);
            draw_text(draw, digits, {middle.x - size.x / 2, middle.y - size.y / 2}, u32(current ? t.accent : t.quiet),
                      text);
        };
        const int step_j =
                      every(char_advance(digits, '0') * static_cast<float>(std::to_string(map.cols).size()) + ui.px(6)),
                  step_i = every(font_height(digits));
        for (int j = 0; j < map.cols; ++j) {
            if (j == 0 || (j + 1) % step_j == 0)
                number(j + 1, {origin.x + cell * (static_cast<float>(j) + 0.5f), origin.y - gutter / 2}, now.j == j);
        }
        for (int i = 0; i < map.rows; ++i) {
            if (i == 0 || (i + 1) % step_i == 0)
                number(i + 1, {origin.x - gutter / 2, origin.y + cell * (static_cast<float>(i) + 0.5f)}, now.i == i);
        }
        // In the corner: i counts downwards, j to the right.
        draw->AddLine({origin.x - gutter, origin.y - gutter}, {origin.x - ui.px(2), origin.y - ui.px(2)}, u32(t.line));
        const FormulaLayout& i = ui.formulas.get(ui, "i", 14);
        draw_formula(ui, draw, origin.x - gutter + ui.px(1), origin.y - ui.px(3), i, u32(t.quiet));
        const FormulaLayout& j = ui.formulas.get(ui, "j", 14);
        draw_formula(ui, draw, origin.x - ui.px(8), origin.y - ui.px(10), j, u32(t.quiet));
    }

    void tip(int i, int j) const {
        const ScoreMap::Tile& which = tile(i, j);
        const Problem& p = app.run->trace.problem;
        const bool elements = app.run->algorithm->reads_scores;
        if (!begin_tip(ui)) return;
        const auto span = [](int from, int to) {
            return from == to ? std::to_string(from) : std::to_string(from) + "–" + std::to_string(to);
        };
        if (elements) {
            ImGui::TextUnformatted(
                ui.tr(kRowColumn, {{"row", std::to_string(i + 1)}, {"column", std::to_string(j + 1)}}).c_str());
        } else {
            ImGui::TextUnformatted(
                ui.tr(kMapTile, {{"i", std::to_string(i + 1)}, {"j", std::to_string(j + 1)}}).c_str());
            tip_text(ui, ui.tr(kMapCovers, {{"rows", span(i * p.br + 1, std::min((i + 1) * p.br, p.n))},
                                            {"columns", span(j * p.bc + 1, std::min((j + 1) * p.bc, p.nk))}}));
        }
        static constexpr Text kNames[] = {kMapDone, kMapPartly, kMapNow, kMapToCome, kMapSkipped};
        std::string text = ui.tr(kNames[static_cast<int>(state(i, j))]);
        if (which.first >= 0) {
            text += ui.tr(kComma);
            text += ui.tr(kMapSteps, {{"from", std::to_string(position_of(app, which.first))},
                                      {"to", std::to_string(position_of(app, which.last))}});
        }
        tip_text(ui, text);
        end_tip();
    }

    // Runs of equal small tiles are one rectangle each, so that a large map costs little.
    void tiles(ImVec2 origin, float cell) const {
        const bool merge = cell < ui.px(5);
        const float gap = merge ? 0 : 1;
        const ImVec2 lo = draw->GetClipRectMin(), hi = draw->GetClipRectMax();
        const auto x = [&](int j) { return std::round(origin.x + cell * static_cast<float>(j)); };
        const auto y = [&](int i) { return std::round(origin.y + cell * static_cast<float>(i)); };
        const int skip_rows = std::max(1, static_cast<int>(std::ceil(1 / cell)));
        for (int i = 0; i < map.rows; i += skip_rows) {
            if (y(i + skip_rows) < lo.y || y(i) > hi.y) continue;
            const float top = y(i), bottom = std::max(top + 1, y(std::min(i + skip_rows, map.rows)) - gap);
            for (int j = 0; j < map.cols;) {
                const State what = state(i, j);
                int end = j + 1;
                while (merge && end < map.cols && what != State::Now && state(i, end) == what) ++end;
                if (what != State::Now) paint(what, {x(j), top}, {std::max(x(j) + 1, x(end) - gap), bottom});
                j = end;
            }
        }
        if (now.i >= 0 && now.j >= 0 && now.i < map.rows && now.j < map.cols) {
            const float side = std::max(cell, ui.px(4));
            paint(State::Now, {x(now.j), y(now.i)}, {x(now.j) + side - gap, y(now.i) + side - gap});
        }
    }

    void run() {
        const ImVec2 at = ImGui::GetCursorScreenPos(), space = ImGui::GetContentRegionAvail();
        bool partly = false, skipped = false;
        for (const ScoreMap::Tile& tile : map.tiles) skipped |= tile.first < 0;
        if (app.run->algorithm->reads_scores) partly = true;
        const float gutter = ui.px(kGridGutter), legend_h = legend_height(space.x, partly, skipped);
        const float room_x = space.x - gutter, room_y = space.y - gutter - legend_h - ui.px(8);
        float cell = std::min(room_x / static_cast<float>(map.cols), room_y / static_cast<float>(map.rows));
        cell = std::min(cell, ui.px(72));
        cell = cell >= 3 ? std::floor(cell) : cell;
        if (cell <= 0) return;
        const ImVec2 origin(std::round(at.x + gutter), std::round(at.y + gutter));
        map.origin = origin;
        map.cell = cell;
        const ImVec2 size(cell * static_cast<float>(map.cols), cell * static_cast<float>(map.rows));
        axis(origin, cell);
        tiles(origin, cell);
        const Problem& p = app.run->trace.problem;
        const bool elements = app.run->algorithm->reads_scores;
        hidden_scores(origin, cell / static_cast<float>(elements ? 1 : p.bc),
                      cell / static_cast<float>(elements ? 1 : p.br));
        ImGui::SetCursorScreenPos(origin);
        const bool clicked = ImGui::InvisibleButton("map", {std::max(1.0f, size.x), std::max(1.0f, size.y)});
        if (ImGui::IsItemHovered() || clicked) {
            const ImVec2 mouse = ImGui::GetIO().MousePos;
            const int j = std::clamp(static_cast<int>((mouse.x - origin.x) / cell), 0, map.cols - 1);
            const int i = std::clamp(static_cast<int>((mouse.y - origin.y) / cell), 0, map.rows - 1);
            if (clicked && tile(i, j).first >= 0) app.seek(tile(i, j).first);
            draw->AddRect({origin.x + cell * static_cast<float>(j), origin.y + cell * static_cast<float>(i)},
                          {origin.x + cell * static_cast<float>(j + 1), origin.y + cell * static_cast<float>(i + 1)},
                          u32(t.text));
            tip(i, j);
        }
        legend({at.x, at.y + space.y - legend_h}, space.x, partly, skipped);
        ImGui::SetCursorScreenPos(at);
        ImGui::Dummy({space.x, std::max(1.0f, space.y)});
    }

    // Without loops: one library call per line, each over the whole matrix.
    void whole() {
        small_text(ui, ui.tr(kMapWhole));
        const Trace& trace = app.run->trace;
        const auto [first, last] = trace.head_range(app.player->head());
        const int calls = first == 0 ? 0 : last - first + 1;
        if (calls == 0) return;
        const ImVec2 at = ImGui::GetCursorScreenPos(), space = ImGui::GetContentRegionAvail();
        const float legend_h = legend_height(space.x, false, false), gap = ui.px(12), label = ui.px(24);
        float side = std::min((space.x - gap * static_cast<float>(calls - 1)) / static_cast<float>(calls),
                              space.y - legend_h - label - ui.px(12));
        side = std::floor(std::min(side, ui.px(120)));
        if (side < ui.px(8)) return;
        for (int k = 0; k < calls; ++k) {
            const ImVec2 a(std::round(at.x + static_cast<float>(k) * (side + gap)), std::round(at.y + ui.px(4)));
            const Step& call = trace.steps[first + k];
            ImGui::SetCursorScreenPos(a);
            ImGui::PushID(k);
            if (ImGui::InvisibleButton("call", {side, side})) app.seek(first + k);
            const bool over = ImGui::IsItemHovered();
            ImGui::PopID();
            paint(state({first + k, first + k}, step == first + k), a, {a.x + side, a.y + side});
            const Problem& p = trace.problem;
            if (call.version_begin < call.version_end && trace.versions[call.version_begin].rows == p.n &&
                trace.versions[call.version_begin].cols == p.nk)
                hidden_scores(a, side / static_cast<float>(p.nk), side / static_cast<float>(p.n));
            if (over) draw->AddRect(a, {a.x + side, a.y + side}, u32(t.text));
            const float base = a.y + side + ui.px(17);
            const std::string line = ui.tr(kLineN, {{"line", std::to_string(call.line)}});
            float x = a.x;
            if (call.version_begin < call.version_end) {
                x += tensor_name(ui, draw, {x, base}, trace.tensors[trace.versions[call.version_begin].tensor].name,
                                 17) +
                     ui.px(6);
            }
            if (x + text_width(small, line) <= std::min(a.x + side + gap, at.x + space.x))
                draw_text_on(draw, small, x, base, u32(t.quiet), line);
        }
        legend({at.x, at.y + space.y - legend_h}, space.x, false, false);
        ImGui::SetCursorScreenPos(at);
        ImGui::Dummy({space.x, std::max(1.0f, space.y)});
    }
};

}  // namespace

void draw_score_map(AppState& app) {
    Ui& ui = app.ui;
    section_header(ui, panel_title(ui, "map"));
    if (!app.run || !app.player) {
        empty_state(ui, ui.tr(kEmptyTrace));
        return;
    }
    ScoreMap& map = run_state<ScoreMap>(app);
    find_map_tiles(map, app);
    MapView view{app, map};
    if (map.tiles.empty())
        view.whole();
    else
        view.run();
}

}  // namespace flashstep::viz
