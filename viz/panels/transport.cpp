// The transport: buttons that move the cursor, and the timeline.
#include "viz/panels/transport.h"

#include <fmt/format.h>
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "viz/shell/frame.h"
#include "viz/text/text.h"
#include "viz/widgets/widgets.h"

namespace flashstep::viz {
namespace {

constexpr Text kStepOf{"step {step} of {steps}", "第 {step} 步，共 {steps} 步"};
constexpr Text kInputsStep{"inputs, before line {line}", "初始输入，第 {line} 行之前"};
constexpr Text kFirst{"To the first step", "回到第一步"};
constexpr Text kLast{"To the last step", "跳到最后一步"};
constexpr Text kPreviousLine{"Previous line", "上一行"};
constexpr Text kNextLine{"Next line", "下一行"};
constexpr Text kPreviousTile{"Previous tile", "上一个 tile"};
constexpr Text kNextTile{"Next tile", "下一个 tile"};
constexpr Text kPreviousRowBlock{"Previous row block", "上一个行块"};
constexpr Text kNextRowBlock{"Next row block", "下一个行块"};
constexpr Text kPlay{"Play", "播放"};
constexpr Text kPause{"Pause", "暂停"};
constexpr Text kSpeed{"Speed", "速度"};
constexpr Text kBookmarkAdd{"Add a bookmark here", "在此处添加书签"};
constexpr Text kBookmarkRemove{"Remove this bookmark", "删除此处的书签"};
constexpr Text kFirstDivergence{"First difference", "第一处差异"};
constexpr Text kOuterLoop{"outer loop", "外层循环"};
constexpr Text kInnerLoop{"inner loop", "内层循环"};
constexpr Text kLinesText{"lines", "代码行"};
constexpr Text kHbmSoFar{"HBM bytes so far", "累计 HBM 字节数"};
constexpr Text kNonFiniteMark{"First value that is not finite", "最早的非有限值"};

constexpr double kLinesPerSecond = 2;  // at speed 1
constexpr float kButtons = 9 * 32;
constexpr float kOuter = 14, kInner = 14, kLines = 18, kCurve = 14, kGap = 2, kMarks = 8;

void draw_buttons(AppState& app, ImVec2 at) {
    Ui& ui = app.ui;
    Player* p = app.player.get();
    const bool back = p && p->step() > 0, on = p && !p->at_end();
    const auto enabled = [](bool yes) { return yes ? Enabled::Yes : Enabled::No; };
    float x = at.x;
    const auto button = [&](const char* id, Icon icon, const Text& tip, bool yes) {
        ImGui::SetCursorScreenPos({x, at.y});
        x += ui.px(32);
        return icon_button(ui, id, icon, ui.tr(tip), enabled(yes));
    };
    if (button("first", Icon::First, kFirst, back)) app.seek(p->first()), p->set_playing(false);
    if (button("back_block", Icon::PreviousRow, kPreviousRowBlock, back)) app.move(&Player::backward, Unit::Block);
    if (button("back_tile", Icon::PreviousTile, kPreviousTile, back)) app.move(&Player::backward, Unit::Tile);
    if (button("back_line", Icon::PreviousLine, kPreviousLine, back)) app.move(&Player::backward, Unit::Line);
    const bool playing = p && p->playing();
    if (button("play", playing ? Icon::Pause : Icon::Play, playing ? kPause : kPlay, p != nullptr))
        p->set_playing(!playing);
    if (button("next_line", Icon::NextLine, kNextLine, on)) app.move(&Player::forward, Unit::Line);
    if (button("next_tile", Icon::NextTile, kNextTile, on)) app.move(&Player::forward, Unit::Tile);
    if (button("next_block", Icon::NextRow, kNextRowBlock, on)) app.move(&Player::forward, Unit::Block);
    if (button("last", Icon::Last, kLast, on)) app.seek(p->last()), p->set_playing(false);
}

// The speed as 0.25x to 8x, and the bookmark of this step.
void draw_speed(AppState& app, ImVec2 at) {
    Ui& ui = app.ui;
    static constexpr const char* kLabels[] = {"0.25×", "0.5×", "1×", "2×", "4×", "8×"};
    Player* p = app.player.get();
    const double speed = p ? p->speed() / kLinesPerSecond : 1;
    const int now = static_cast<int>(std::lround(std::log2(speed))) + 2;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const Theme& t = ui.theme();
    const float width = ui.px(41), height = ui.px(28);
    for (int k = 0; k < 6; ++k) {
        const ImVec2 corner(at.x + static_cast<float>(k) * width, at.y);
        ImGui::SetCursorScreenPos(corner);
        ImGui::PushID(k);
        if (ImGui::InvisibleButton("speed", {width, height}) && p) p->set_speed(std::ldexp(kLinesPerSecond, k - 2));
        ImGui::PopID();
        const bool over = ImGui::IsItemHovered(), chosen = k == now;
        if (over || chosen)
            draw->AddRectFilled(corner, {corner.x + width, corner.y + height},
                                u32(mix(t.ground, t.text, chosen ? 0.12f : 0.06f)), ui.px(4));
        if (over && begin_tip(ui)) {
            ImGui::TextUnformatted(ui.tr(kSpeed));
            end_tip();
        }
        const ImVec2 size = text_size(ui.fonts.small, kLabels[k]);
        draw_text(draw, ui.fonts.small, {corner.x + (width - size.x) / 2, corner.y + (height - size.y) / 2},
                  u32(chosen ? t.text : t.quiet), kLabels[k]);
    }
    ImGui::SetCursorScreenPos({at.x + ui.px(kButtons - 36), at.y - ui.px(2)});
    const bool marked = p && p->bookmarks().contains(p->step());
    if (icon_button(ui, "bookmark", marked ? Icon::BookmarkFilled : Icon::Bookmark,
                    ui.tr(marked ? kBookmarkRemove : kBookmarkAdd), p ? Enabled::Yes : Enabled::No))
        p->toggle_bookmark();
}

// "step 17 of 64, i=1 j=2, line 9"
std::string position_text(const Ui& ui, const Player& p, int position) {
    const Step& step = p.trace().steps[p.step_at(position)];
    if (position == 0) {
        const int line = p.count() > 0 ? p.trace().steps[p.step_at(1)].line : 1;
        return ui.tr(kInputsStep, {{"line", std::to_string(line)}});
    }
    const char* comma = ui.tr(kComma);
    std::string text = ui.tr(kStepOf, {{"step", std::to_string(position)}, {"steps", std::to_string(p.count())}});
    if (step.i >= 0) text += fmt::format("{}i={}", comma, step.i + 1);
    if (step.j >= 0) text += fmt::format("{}j={}", step.i >= 0 ? " " : comma, step.j + 1);
    if (step.w >= 0) text += fmt::format("{}warp {}", step.i >= 0 || step.j >= 0 ? " " : comma, step.w + 1);
    return text + comma + ui.tr(kLineN, {{"line", std::to_string(step.line)}});
}

// Where the timeline's parts stand on the screen.
struct Place {
    float x0, x1;                      // of the bands
    float outer, inner, lines, curve;  // tops
    float bottom;
    double first, per_cell;  // position at x0, pixels per cell
    float x(double position) const { return x0 + static_cast<float>((position - first) * per_cell); }
    int position(float x, int cells) const {
        return std::clamp(static_cast<int>(std::floor(first + (x - x0) / per_cell)), 0, cells - 1);
    }
};

void draw_loop_band(const AppState& app, const Place& place, float y, float height, const std::vector<LoopRun>& runs,
                    int now) {
    const Ui& ui = app.ui;
    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const double last = place.first + (place.x1 - place.x0) / place.per_cell;
    auto run = std::lower_bound(runs.begin(), runs.end(), place.first,
                                [](const LoopRun& r, double p) { return r.last + 1 <= p; });
    while (run != runs.end() && run->first < last) {
        float x0 = std::max(place.x(run->first), place.x0), x1 = std::min(place.x(run->last + 1), place.x1);
        const bool current = run->first <= now && now <= run->last;
        const LoopRun shown = *run;
        if (x1 - x0 < 3 && !current) {  // too narrow to tell apart: one piece up to the first that is wider
            do {
                x1 = std::min(place.x(run->last + 1), place.x1);
                const float to = x1 + 1;
                run = std::lower_bound(run + 1, runs.end(), place.first + (to - place.x0) / place.per_cell,
                                       [](const LoopRun& r, double p) { return r.last + 1 <= p; });
            } while (run != runs.end() && run->first < last && place.x(run->last + 1) - place.x(run->first) < 3 &&
                     !(run->first <= now && now <= run->last));
            draw->AddRectFilled({x0, y}, {x1, y + height}, u32(mix(t.ground, t.quiet, 0.25f)));
            continue;
        }
        ++run;
        const Rgb fill =
            current ? mix(t.ground, t.text, 0.30f) : mix(t.ground, t.quiet, shown.index % 2 ? 0.20f : 0.30f);
        draw->AddRectFilled({x0, y}, {std::max(x0 + 1, x1 - 1), y + height}, u32(fill), ui.px(2));
        const std::string label = fmt::format("{}={}", shown.axis, shown.index + 1);
        const ImVec2 size = text_size(ui.fonts.number_small, label);
        if (size.x + ui.px(6) < x1 - x0)
            draw_text(draw, ui.fonts.number_small, {x0 + ui.px(4), y + (height - size.y) / 2},
                      u32(current ? t.text : t.quiet), label);
    }
}

void draw_step_cell(const Ui& ui, ImDrawList* draw, ImVec2 a, ImVec2 b, const StepLook& look, bool done) {
    const Theme& t = ui.theme();
    const bool plain = look.kind == StepKind::Loop || look.kind == StepKind::Inputs;
    const Rgb hue = plain ? t.quiet : t.of(look.family);
    const Rgb fill = mix(t.ground, hue, plain ? (done ? 0.35f : 0.2f) : (done ? 0.85f : 0.40f));
    draw->AddRectFilled(a, b, u32(fill), b.x - a.x > 6 ? ui.px(2) : 0);
    const float width = b.x - a.x, middle = (a.x + b.x) / 2, height = b.y - a.y;
    const unsigned ink = u32(t.text_on(fill));
    const bool moves = look.kind == StepKind::Load || look.kind == StepKind::Store;
    const bool letter = width >= ui.px(look.letters[1] ? 17 : 14) && look.letters[0];
    float x = middle;
    if (moves && width >= ui.px(7)) {  // down: from HBM to the chip; up: back
        const float r = ui.px(2.5f), y = (a.y + b.y) / 2, dir = look.kind == StepKind::Load ? 1.0f : -1.0f;
        const float beside = ui.px(look.letters[1] ? 8 : 5);
        if (letter) x = middle + ui.px(4);
        const float cx = letter ? middle - beside : middle;
        if (!letter || width >= ui.px(look.letters[1] ? 28 : 20))
            draw->AddTriangleFilled({cx - r, y - r * dir}, {cx + r, y - r * dir}, {cx, y + r * dir}, ink);
        else
            x = middle;
    }
    if (!letter) return;
    const ImVec2 size = text_size(ui.fonts.number_small, look.letters);
    draw_text(draw, ui.fonts.number_small, {x - size.x / 2, a.y + (height - size.y) / 2}, ink, look.letters);
}

void draw_lines_band(const AppState& app, const Timeline& line, const Place& place, int now) {
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float y0 = place.lines, y1 = place.lines + app.ui.px(kLines);
    if (place.per_cell >= 2) {
        const int from = place.position(place.x0, line.cells()), to = place.position(place.x1 - 0.5f, line.cells());
        const float gap = place.per_cell >= 4 ? 1.0f : 0.0f;
        for (int p = from; p <= to; ++p)
            draw_step_cell(app.ui, draw, {std::max(place.x(p), place.x0), y0},
                           {std::min(place.x(p + 1), place.x1) - gap, y1}, line.look(p), p <= now);
        return;
    }
    // Many steps on a pixel: the mean colour of some of them.
    const Theme& t = app.ui.theme();
    for (float x = place.x0; x < place.x1; x += 1) {
        const double first = place.first + (x - place.x0) / place.per_cell, span = 1 / place.per_cell;
        const int samples = std::clamp(static_cast<int>(span), 1, 6);
        Rgb mean;
        for (int k = 0; k < samples; ++k) {
            const int p = std::clamp(static_cast<int>(first + span * (k + 0.5) / samples), 0, line.cells() - 1);
            const StepLook& look = line.look(p);
            const bool plain = look.kind == StepKind::Loop || look.kind == StepKind::Inputs;
            const Rgb c = mix(t.ground, plain ? t.quiet : t.of(look.family), p <= now ? 0.85f : 0.40f);
            mean.r += c.r / static_cast<float>(samples);
            mean.g += c.g / static_cast<float>(samples);
            mean.b += c.b / static_cast<float>(samples);
        }
        draw->AddRectFilled({x, y0}, {std::min(x + 1, place.x1), y1}, u32(mean));
    }
}

void draw_curve(const AppState& app, const Timeline& line, const Place& place, int now) {
    const Theme& t = app.ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const double all = static_cast<double>(std::max<std::int64_t>(1, line.all_bytes()));
    const float top = place.curve + 1, height = place.bottom - top - 1;
    const float step = std::max(1.0f, static_cast<float>(std::min(place.per_cell, 1e6)));
    draw->AddRectFilled({place.x0, place.bottom - 1}, {place.x1, place.bottom}, u32(t.line));
    float last_y = place.bottom - 1;
    const float start = place.per_cell >= 1 ? place.x(std::floor(place.first)) : place.x0;
    for (float x = start; x < place.x1; x += step) {
        const int p = place.position(x + step / 2, line.cells());
        const float y = place.bottom - 1 - height * static_cast<float>(static_cast<double>(line.bytes(p)) / all);
        const float x0 = std::max(x, place.x0), x1 = std::min(x + step, place.x1);
        if (x1 <= x0) continue;
        const bool done = p <= now;
        draw->AddRectFilled({x0, y}, {x1, place.bottom - 1}, u32(mix(t.ground, t.quiet, done ? 0.40f : 0.15f)));
        const unsigned edge = u32(done ? t.quiet : mix(t.ground, t.quiet, 0.5f));
        draw->AddRectFilled({x0, std::min(y, last_y)}, {x0 + 1, last_y + 1}, edge);
        draw->AddRectFilled({x0, y}, {x1, y + 1}, edge);
        last_y = y;
    }
}

// The step at which the run leaves the finite numbers, -1: it does not.
int non_finite_step(const Run& run) { return run.non_finite ? run.trace.versions[run.non_finite->version].step : -1; }

void draw_marks(const AppState& app, const Timeline& line, const Place& place) {
    const Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Player& player = *app.player;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float top = place.outer - ui.px(kMarks);
    const auto middle = [&](int step) {
        const int base = player.step_at(1);
        const double p = step == 0 ? 0 : step - base + 1;
        return p < 0 || p >= line.cells() ? -1.0f : place.x(p + 0.5);
    };
    const auto inside = [&](float x) { return x >= place.x0 && x <= place.x1; };
    for (int step : player.bookmarks()) {
        const float x = middle(step), r = ui.px(3);
        if (!inside(x)) continue;
        draw->AddRectFilled({x, top}, {x + 1, place.bottom}, u32(t.text, 0.5f));
        draw->AddTriangleFilled({x, top}, {x + 2 * r, top + r}, {x, top + 2 * r}, u32(t.text));
    }
    const float r = ui.px(4), y = top + ui.px(4);
    const auto alarm_line = [&](float x) {
        draw->AddRectFilled({x - 0.5f, top}, {x + 0.5f, place.bottom}, u32(t.alarm));
    };
    if (const int step = non_finite_step(*app.run); step >= 0) {  // a cross: no number from here on
        if (const float x = middle(step); inside(x)) {
            alarm_line(x);
            draw_icon(draw, Icon::Cross, {x, y}, ui.px(14), u32(t.alarm));
        }
    }
    if (app.run->first_difference < 0) return;
    const float x = middle(app.run->first_difference);
    if (!inside(x)) return;
    alarm_line(x);
    draw->AddQuadFilled({x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}, u32(t.alarm));
}

void take_mouse(AppState& app, Timeline& line, const Place& place) {
    Ui& ui = app.ui;
    ImGui::SetCursorScreenPos({place.x0, place.outer - ui.px(kMarks)});
    ImGui::InvisibleButton("timeline", {place.x1 - place.x0, place.bottom - place.outer + ui.px(kMarks)});
    const ImGuiIO& io = ImGui::GetIO();
    const int under = place.position(io.MousePos.x, line.cells());
    if (ImGui::IsItemActive()) {
        app.scrubbing = true;
        app.player->set_playing(false);
        if (under != app.player->position()) app.seek(app.player->step_at(under));
    } else {
        app.scrubbing = false;
    }
    if (!ImGui::IsItemHovered()) return;
    if (ImGui::IsMouseDoubleClicked(0)) line.show_all();
    if (io.MouseWheel != 0)
        line.zoom(std::pow(0.8, io.MouseWheel), place.first + (io.MousePos.x - place.x0) / place.per_cell);
    if (ImGui::IsItemActive()) return;
    const float x = place.x(under + 0.5);
    ImGui::GetWindowDrawList()->AddRectFilled({x, place.outer}, {x + 1, place.bottom}, u32(ui.theme().text, 0.4f));
    if (!begin_tip(ui)) return;
    ImGui::TextUnformatted(position_text(ui, *app.player, under).c_str());
    const bool different = app.run->first_difference >= 0 && app.player->step_at(under) == app.run->first_difference;
    if (different) ImGui::TextUnformatted(ui.tr(kFirstDivergence));
    if (app.player->step_at(under) == non_finite_step(*app.run)) ImGui::TextUnformatted(ui.tr(kNonFiniteMark));
    small_text(ui, ui.tr(kKeyTimeline));
    end_tip();
}

void draw_bands(AppState& app, Timeline& line, ImVec2 at, float width) {
    Ui& ui = app.ui;
    const Theme& t = ui.theme();
    const Player& player = *app.player;
    ImDrawList* draw = ImGui::GetWindowDrawList();
    // What the bands are, in a column of their own.
    float label_w = 0;
    const char* labels[] = {ui.tr(kOuterLoop), ui.tr(kInnerLoop), ui.tr(kLinesText), "HBM"};
    for (const char* label : labels) label_w = std::max(label_w, text_width(ui.fonts.small, label));
    Place place{};
    place.x0 = std::round(at.x + label_w + ui.px(8));
    place.x1 = at.x + width;
    place.outer = std::round(at.y + ui.px(24 + kMarks));
    place.inner = place.outer + ui.px(kOuter + kGap);
    place.lines = place.inner + ui.px(kInner + kGap);
    place.curve = place.lines + ui.px(kLines + kGap);
    place.bottom = place.curve + ui.px(kCurve);
    place.first = line.view_first();
    place.per_cell = (place.x1 - place.x0) / (line.view_last() - line.view_first());
    const float tops[] = {place.outer, place.inner, place.lines, place.curve},
                heights[] = {kOuter, kInner, kLines, kCurve};
    for (int k = 0; k < 4; ++k)
        draw_text(draw, ui.fonts.small, {at.x, tops[k] + (ui.px(heights[k]) - font_height(ui.fonts.small)) / 2},
                  u32(t.quiet), labels[k]);

    const int now = player.position();
    draw_loop_band(app, place, place.outer, ui.px(kOuter), line.outer(), now);
    draw_loop_band(app, place, place.inner, ui.px(kInner), line.inner(), now);
    draw_lines_band(app, line, place, now);
    draw_curve(app, line, place, now);
    draw_marks(app, line, place);
    const float x = place.x(now + 0.5), half = std::max(1.0f, ui.px(1));
    if (x >= place.x0 && x <= place.x1) {
        const bool framed = place.per_cell >= ui.px(8);  // the step itself, its letter left free
        const float cut = framed ? place.lines : place.bottom;
        draw->AddRectFilled({x - half, place.outer - ui.px(2)}, {x + half, cut}, u32(t.accent));
        const float r = ui.px(5), y = place.outer - ui.px(2);
        draw->AddTriangleFilled({x - r, y - r}, {x + r, y - r}, {x, y + r * 0.6f}, u32(t.accent));
        if (framed) {
            draw->AddRect({place.x(now) - 1, place.lines - 1}, {place.x(now + 1), place.lines + ui.px(kLines) + 1},
                          u32(t.accent), ui.px(2), 0, ui.px(2));
            draw->AddRectFilled({x - half, place.curve}, {x + half, place.bottom}, u32(t.accent));
        }
    }
    take_mouse(app, line, place);
}

}  // namespace

void draw_transport(AppState& app) {
    Ui& ui = app.ui;
    const ImVec2 at = ImGui::GetCursorScreenPos();
    const float right = at.x + ImGui::GetContentRegionAvail().x;
    draw_buttons(app, {at.x - ui.px(8), at.y + ui.px(10)});
    draw_speed(app, {at.x - ui.px(4), at.y + ui.px(56)});
    if (!app.player) return;

    TransportState& state = own_state<TransportState>(app);
    Timeline& line = state.timeline;
    const bool moved = state.followed_step != app.player->step();
    line.prepare(*app.player, app.run);
    if (moved && !app.scrubbing) line.follow(app.player->position());
    state.followed_step = app.player->step();

    const Theme& t = ui.theme();
    ImDrawList* draw = ImGui::GetWindowDrawList();
    const float x = at.x + ui.px(kButtons + 16), base = at.y + ui.px(16);
    draw_text_on(draw, ui.fonts.body, x, base, u32(t.text), position_text(ui, *app.player, app.player->position()));
    const std::string bytes = bytes_text(line.bytes(app.player->position()));
    float w = text_width(ui.fonts.number, bytes);
    draw_text_on(draw, ui.fonts.number, right - w, base, u32(t.text), bytes);
    const char* label = ui.tr(kHbmSoFar);
    w += ui.px(8) + text_width(ui.fonts.small, label);
    draw_text_on(draw, ui.fonts.small, right - w, base, u32(t.quiet), label);
    draw_bands(app, line, {x, at.y}, right - x);
}

}  // namespace flashstep::viz
