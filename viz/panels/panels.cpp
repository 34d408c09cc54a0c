// The table of panels. Each is drawn by a file of its own, which keeps its state too (own_state, run_state).
#include "viz/panels/panels.h"

namespace flashstep::viz {

// Each in a file of its own.
using Draw = void(AppState&);
Draw draw_lesson_panel, draw_source_panel, draw_memory_panel, draw_score_map, draw_explain_panel, draw_traffic_panel,
    draw_compare_panel, draw_predict_panel;

namespace {

bool has_lesson(const AppState& app) { return app.lesson != nullptr; }

// clang-format off
constexpr Panel kPanels[] = {
    {"lesson",  {"Lesson", "课程"},                     Key::Num1, draw_lesson_panel, {}, {}, has_lesson},
    {"source",  {"Source", "代码"},                     Key::Num2, draw_source_panel},
    {"memory",  {"Memory", "存储层次"},                 Key::Num3, draw_memory_panel},
    {"map",     {"Score map", "分数矩阵"},              {},        draw_score_map},
    {"explain", {"Explain", "算式"},                    Key::Num4, draw_explain_panel},
    {"traffic", {"Traffic", "访存量"},                  Key::Num5, draw_traffic_panel},
    {"compare", {"CPU vs kernel", "CPU 与 kernel 对比"}, Key::Num6, draw_compare_panel,
                Key::C, {"the comparison with the kernel, large", "放大 CPU 与 kernel 的对比"}},
    {"predict", {"Predict", "先猜一猜"},                {},        draw_predict_panel},
};
// clang-format on

}  // namespace

std::span<const Panel> panels() { return kPanels; }

const Panel* find_panel(std::string_view id) {
    for (const Panel& panel : kPanels)
        if (panel.id == id) return &panel;
    return nullptr;
}

std::string_view panel_title(const Ui& ui, std::string_view id) { return find_panel(id)->title.in(ui.language); }

}  // namespace flashstep::viz
