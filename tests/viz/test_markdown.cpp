// Lesson texts: blocks, runs, links, line breaking, clicks.
#include <doctest/doctest.h>
#include <imgui.h>

#include <string>

#include "viz/shell/headless.h"
#include "viz/text/markdown.h"

using namespace flashstep;
using namespace flashstep::viz;
using Kind = MdBlock::Kind;
using Run = MdRun::Kind;

TEST_CASE("blocks and runs come out in order") {
    const MdDocument d = parse_markdown(
        "# Tiles\n\nLoad $Q_i$ **once**, see [step 17](step:17) and `S_ij`.\n\n- one\n- two\n  1. inner\n\n> "
        "Why?\n\n---\n");
    REQUIRE(d.blocks.size() == 7);
    CHECK(d.blocks[0].kind == Kind::Heading);
    CHECK(d.blocks[0].level == 1);
    const MdBlock& p = d.blocks[1];
    CHECK(p.kind == Kind::Paragraph);
    REQUIRE(p.runs.size() == 9);
    CHECK(p.runs[1].kind == Run::Formula);
    CHECK(p.runs[1].text == "Q_i");
    CHECK(p.runs[3].bold);
    CHECK(p.runs[3].text == "once");
    CHECK(p.runs[5].link == 0);
    CHECK(p.runs[7].kind == Run::Code);
    CHECK(d.links == std::vector<std::string>{"step:17"});
    CHECK(d.blocks[2].marker == "•");
    CHECK(d.blocks[2].runs[0].text == "one");
    CHECK(d.blocks[4].marker == "1.");
    CHECK(d.blocks[4].level == 2);
    CHECK(d.blocks[5].quote);
    CHECK(d.blocks[6].kind == Kind::Rule);
    CHECK(d.errors.empty());
}

TEST_CASE("a display formula stands between the halves of its paragraph") {
    const MdDocument d = parse_markdown("before\n$$S = QK^\\top$$\nafter");
    REQUIRE(d.blocks.size() == 3);
    CHECK(d.blocks[1].kind == Kind::Display);
    CHECK(d.blocks[1].runs[0].text == "S = QK^\\top");
    CHECK(d.blocks[2].runs.front().text.find("after") != std::string::npos);
    CHECK(parse_markdown("$$x$$").blocks.size() == 1);
}

TEST_CASE("a formula that does not parse is reported") {
    const MdDocument d = parse_markdown("a $\\foo$ b");
    REQUIRE(d.errors.size() == 1);
    CHECK(d.errors[0].find("unknown command") != std::string::npos);
}

TEST_CASE("a line break in the source is a space between words and nothing between Chinese characters") {
    CHECK(parse_markdown("one\ntwo").blocks[0].runs[0].text == "one two");
    CHECK(parse_markdown("分块\n计算").blocks[0].runs[0].text == "分块计算");
    CHECK(parse_markdown("使用\nsoftmax").blocks[0].runs[0].text == "使用 softmax");
}

TEST_CASE("any text lays out within the width, and narrower means higher") {
    const std::string text =
        "# 分块计算 and a heading that wraps when it must\n\nWords and $\\tilde{P}_{ij} V_j$, "
        "a_very_long_identifier_that_no_line_can_hold_"
        "because_it_does_not_end. 每次把一个 tile 载入片上 SRAM，在线 softmax 只需要 $m_i$ 与 $\\ell_i$。\n\n> quoted "
        "`code`\n\n```\nint x = 1;\n```\n"
        "\n$$O_i \\leftarrow \\mathrm{diag}(e^{m_i^{(j-1)} - m_i^{(j)}}) O_i + \\tilde{P}_{ij} V_j$$\n";
    Headless h;
    MarkdownView view;
    view.set(text);
    float last = 0;
    for (const float width : {900.0f, 400.0f, 220.0f, 120.0f}) {
        float right = 0;
        h.frame([&](Ui& ui) {
            ImGui::BeginChild("c", {width, 600});
            const ImVec2 at = ImGui::GetCursorScreenPos();
            view.draw(ui, nullptr);
            right = 0;
            for (const ImDrawVert& v : ImGui::GetWindowDrawList()->VtxBuffer) right = std::max(right, v.pos.x - at.x);
            ImGui::EndChild();
        });
        CAPTURE(width);
        if (width >= 220) CHECK(right <= width + 1);
        CHECK(view.height() > last);
        last = view.height();
    }
}

TEST_CASE("a click on a link gives its target, a click beside it nothing") {
    Headless h;
    MarkdownView view;
    view.set("[step 17](step:17) is where it happens");
    std::string target;
    ImVec2 at;
    const auto draw = [&](Ui& ui) {
        at = ImGui::GetCursorScreenPos();
        view.draw(ui, [&](std::string_view t) { target = t; });
    };
    h.frame(draw);
    h.click(at.x + 200, at.y + 10, draw);
    CHECK(target.empty());
    h.click(at.x + 20, at.y + 10, draw);
    CHECK(target == "step:17");
}

TEST_CASE("broken Markdown is text") {
    for (const char* s : {"", "[", "[x](", "**", "`", "$", "$$", "> > >", "- - -", "1.", "|a|b|\n|-|-|\n", "<b>x</b>",
                          "\xff\xfe", "&nosuch;"}) {
        CAPTURE(std::string(s));
        Headless h(200, 200);
        MarkdownView view;
        view.set(s);
        h.frame([&](Ui& ui) { view.draw(ui, nullptr); });
        CHECK(view.height() >= 0);
    }
}
