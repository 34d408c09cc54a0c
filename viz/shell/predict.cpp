// Predict: which line is next, what is asked of it, and what is said to the answer.
#include "viz/shell/predict.h"

#include <algorithm>
#include <cmath>

#include "lab/format.h"
#include "viz/shell/frame.h"

namespace flashstep::viz {
namespace {

constexpr std::size_t kMostOptions = 4;

bool computes(const Trace& trace, const Version& version) {
    const Op op = trace.exprs[version.expr].op;
    return trace.tensors[version.tensor].space == Space::Sram && op != Op::Leaf && op != Op::Input && op != Op::Fill;
}

std::vector<int> computed_in(const Trace& trace, int step) {
    std::vector<int> versions;
    for (int v = trace.steps[step].version_begin; v < trace.steps[step].version_end; ++v)
        if (computes(trace, trace.versions[v])) versions.push_back(v);
    return versions;
}

// The tile that stood there before; -1: none of that shape.
int version_before(const Trace& trace, int v) {
    const Version& version = trace.versions[v];
    const int before = trace.tile_at(version.tensor, version.step - 1);
    if (before < 0) return -1;
    const Version& old = trace.versions[before];
    return old.rows == version.rows && old.cols == version.cols ? before : -1;
}

bool same_to_a_reader(double a, double b) { return std::string_view(short_number(a).text) == short_number(b).text; }

// What it held, what other cells of it will hold: all look as if they could be it.
std::vector<double> options_of(const Trace& trace, const Prediction& p) {
    const auto now = trace.value(trace.versions[p.version]);
    std::vector<double> options = {now(p.row, p.col)};
    const auto add = [&](double value) {
        const auto same = [&](double other) { return same_to_a_reader(other, value); };
        if (options.size() < kMostOptions && !std::isnan(value) && std::ranges::none_of(options, same))
            options.push_back(value);
    };
    const int before = version_before(trace, p.version);
    if (before >= 0) add(trace.value(trace.versions[before])(p.row, p.col));
    for (int r = 0; r < now.rows(); ++r)
        for (int c = 0; c < now.cols(); ++c)
            if (r == p.row || c == p.col) add(now(r, c));
    if (before >= 0)
        for (int r = 0; r < now.rows(); ++r) add(trace.value(trace.versions[before])(r, p.col));
    std::ranges::sort(options);
    return options;
}

// The cell that changes most, so that the question is worth asking.
void choose_cell(const Trace& trace, Prediction& p) {
    const auto now = trace.value(trace.versions[p.version]);
    const int before = version_before(trace, p.version);
    double most = -1;
    for (int r = 0; r < now.rows(); ++r)
        for (int c = 0; c < now.cols(); ++c) {
            const double old = before < 0 ? 0 : trace.value(trace.versions[before])(r, c);
            const double change = std::isfinite(now(r, c)) && std::isfinite(old) ? std::abs(now(r, c) - old) : 0;
            if (change <= most) continue;
            most = change;
            p.row = r, p.col = c;
        }
}

void ask_next(AppState& app, Prediction& p) {
    const Trace& trace = app.run->trace;
    const Player& player = *app.player;
    Prediction fresh;
    fresh.on = true, fresh.run = app.run, fresh.before = player.step();
    for (int position = player.position() + 1; position <= player.count() && fresh.step < 0; ++position) {
        const int step = player.step_at(position);
        fresh.versions = computed_in(trace, step);
        if (fresh.versions.empty()) continue;
        fresh.step = step;
        fresh.before = player.step_at(position - 1);
    }
    p = std::move(fresh);
    if (p.step < 0) return;
    app.player->set_playing(false);
    app.seek(p.before);
    p.before = app.player->step();
    app.selected.reset();
    p.version = p.versions.front();
    choose_cell(trace, p);
    p.options = options_of(trace, p);
}

double right_value(const Prediction& p) {
    const Trace& trace = p.run->trace;
    return trace.value(trace.versions[p.version])(p.row, p.col);
}

void take(AppState& app, Prediction& p, Answer answer, double given) {
    p.last = answer;
    const int before = version_before(p.run->trace, p.version);
    p.was_old = answer == Answer::Wrong && before >= 0 &&
                same_to_a_reader(p.run->trace.value(p.run->trace.versions[before])(p.row, p.col), given);
    if (answer == Answer::Right) reveal_prediction(app);
}

}  // namespace

Prediction& prediction(AppState& app) { return own_state<Prediction>(app); }
bool predicting(AppState& app) { return prediction(app).on; }
void stop_predicting(AppState& app) { prediction(app) = {}; }

void predict_key(AppState& app) {
    Prediction& p = prediction(app);
    if (!app.player || !app.run) return;
    if (p.on && !p.revealed) return stop_predicting(app);
    frame_state(app).focus = nullptr;
    ask_next(app, p);
}

void ask_for(AppState& app, int version, int row, int col) {
    Prediction& p = prediction(app);
    if (p.revealed) {  // it is there to be explained
        if (app.run == p.run) app.selected = CellRef{p.run->trace.versions[version].tensor, row, col};
    }
    if (p.revealed || (p.version == version && p.row == row && p.col == col)) return;
    p.version = version, p.row = row, p.col = col;
    p.typed.clear(), p.last.reset();
    p.options = options_of(p.run->trace, p);
}

void answer_prediction(AppState& app, double picked) {
    Prediction& p = prediction(app);
    take(app, p, same_to_a_reader(picked, right_value(p)) ? Answer::Right : Answer::Wrong, picked);
}

void answer_prediction(AppState& app) {
    Prediction& p = prediction(app);
    double given = 0;
    const Answer answer = judge_number(right_value(p), p.typed, &given);
    take(app, p, answer, given);
}

void reveal_prediction(AppState& app) {
    Prediction& p = prediction(app);
    if (p.step < 0 || app.run != p.run) return;
    app.seek(p.step);
    app.selected = CellRef{p.run->trace.versions[p.version].tensor, p.row, p.col};
    p.revealed = true;
}

void follow_prediction(AppState& app) {
    Prediction& p = prediction(app);
    if (!p.on || !app.player || !app.run) return;
    const bool here = app.player->step() == (p.revealed ? p.step : p.before);
    if (app.run != p.run || !here) ask_next(app, p);
}

}  // namespace flashstep::viz
