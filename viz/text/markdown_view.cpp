// Layout of lesson texts into lines (words, Chinese by character, formulas on the baseline) and their drawing.
#include <imgui.h>

#include <algorithm>
#include <cmath>

#include "viz/shell/ui.h"
#include "viz/text/markdown.h"
#include "viz/text/text.h"

namespace flashstep::viz {
namespace {

std::size_t char_bytes(std::string_view s) {
    const auto lead = static_cast<unsigned char>(s[0]);
    const std::size_t n = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    return std::min(n, s.size());
}

bool is_cjk(std::string_view c) {
    const auto lead = static_cast<unsigned char>(c[0]);
    return c.size() == 3 && lead >= 0xE3 && lead <= 0xEF;
}

constexpr std::string_view kNoLineStart = "，。；：、？！）》」』】”’…,.;:?!)]}%";
constexpr std::string_view kNoLineEnd = "（《「『【“‘([{";

// Where a line may not start, or end: Chinese punctuation, closing and opening brackets.
bool is_one_of(std::string_view set, std::string_view c) { return !c.empty() && set.find(c) != std::string_view::npos; }

}  // namespace

// Fills lines token by token. A token is what may not be broken; `space` is the gap that falls away at a line's start.
class MarkdownView::Layouter {
  public:
    Layouter(MarkdownView& view, Ui& ui, float width) : view_(view), ui_(ui), width_(width) {}

    float run() {
        const auto& blocks = view_.document_.blocks;
        for (std::size_t k = 0; k < blocks.size(); ++k) {
            const MdBlock& b = blocks[k];
            y_ += k == 0 ? 0 : gap_before(blocks[k - 1], b);
            block(b);
        }
        finish_quote();
        return y_;
    }

  private:
    struct Token {
        Piece piece;
        float space = 0, ascent = 0, descent = 0;
        bool may_break = false;  // before it
    };

    float px(float design) const { return std::round(ui_.px(design)); }

    ImFont* font(Style style) const { return view_.font(ui_, style); }

    float measure(Style style, std::string_view text) const { return text_width(font(style), text); }

    float gap_before(const MdBlock& a, const MdBlock& b) {
        if (a.quote && !b.quote) finish_quote();
        if (b.kind == MdBlock::Kind::Heading) return px(20);
        if (a.kind == MdBlock::Kind::Item && b.kind == MdBlock::Kind::Item) return px(4);
        if (a.kind == MdBlock::Kind::Heading) return px(8);
        return px(12);
    }

    void finish_quote() {
        if (quote_top_ < 0) return;
        view_.decorations_.push_back({false, 0, quote_top_, y_});
        quote_top_ = -1;
    }

    void block(const MdBlock& b) {
        if (b.quote && quote_top_ < 0) quote_top_ = y_;
        left_ = b.quote ? px(16) : 0;
        if (b.kind == MdBlock::Kind::Item) left_ += px(20) * static_cast<float>(b.level);
        switch (b.kind) {
            case MdBlock::Kind::Rule:
                view_.decorations_.push_back({true, 0, y_ + px(4), y_ + px(5)});
                y_ += px(8);
                return;
            case MdBlock::Kind::Display:
                display(b);
                return;
            case MdBlock::Kind::Code:
                code_block(b);
                return;
            default:
                break;
        }
        if (!b.marker.empty()) {
            Piece p;
            p.text = b.marker;
            p.width = measure(Style::Body, b.marker);
            p.x = left_ - px(8) - p.width;
            marker_ = p;
        }
        const Style base =
            b.kind == MdBlock::Kind::Heading ? (b.level <= 2 ? Style::Heading : Style::Bold) : Style::Body;
        line_.clear();
        group_.clear();
        pending_space_ = 0;
        last_char_.clear();
        for (const MdRun& run : b.runs) add(run, base);
        end_group();
        end_line();
    }

    void add(const MdRun& run, Style base) {
        if (run.kind == MdRun::Kind::Break) {
            end_group();
            end_line();
            return;
        }
        if (run.kind == MdRun::Kind::Formula) {
            Token t;
            t.piece.kind = run.kind;
            t.piece.link = run.link;
            t.piece.formula = layout_formula(ui_, run.text, view_.size_ == TextSize::Body ? 17.0f : 14.0f);
            const float room = (width_ - left_) / ui_.scale;
            for (const float size : {14.0f, 12.0f, 10.0f}) {
                if (t.piece.formula.width <= room) break;
                t.piece.formula = layout_formula(ui_, run.text, size);
            }
            t.piece.width = std::ceil(t.piece.formula.width * ui_.scale);
            t.ascent = std::ceil(t.piece.formula.ascent * ui_.scale);
            t.descent = std::ceil(t.piece.formula.descent * ui_.scale);
            // A formula beside a Chinese character may start a line; beside a Latin letter or bracket it may not.
            push(std::move(t), is_cjk_last() && !is_one_of(kNoLineEnd, last_char_));
            last_char_ = "x";
            after_formula_ = true;
            return;
        }
        const Style style = run.kind == MdRun::Kind::Code     ? Style::Code
                            : run.bold && base == Style::Body ? Style::Bold
                                                              : base;
        std::string_view s = run.text;
        while (!s.empty()) {
            if (s[0] == ' ' || s[0] == '\n') {
                pending_space_ = std::max(pending_space_, measure(style == Style::Code ? Style::Body : style, " "));
                s.remove_prefix(1);
                continue;
            }
            // One Chinese character, or a word up to the next space or Chinese character.
            std::size_t n = char_bytes(s);
            const bool wide = is_cjk(s.substr(0, n));
            if (!wide) {
                while (n < s.size() && s[n] != ' ' && s[n] != '\n' && !is_cjk(s.substr(n, char_bytes(s.substr(n))))) {
                    n += char_bytes(s.substr(n));
                }
            }
            text(run, style, s.substr(0, n), wide);
            s.remove_prefix(n);
        }
    }

    void text(const MdRun& run, Style style, std::string_view word, bool wide) {
        const std::string_view first = word.substr(0, char_bytes(word));
        bool may_break = (wide || is_cjk_last() || (after_formula_ && wide)) && !is_one_of(kNoLineStart, first) &&
                         !is_one_of(kNoLineEnd, last_char_);
        after_formula_ = false;
        const float room = width_ - left_;
        while (!word.empty()) {
            // A word longer than a line is cut where the line ends.
            std::size_t n = word.size();
            float w = measure(style, word);
            if (w > room) {
                n = 0;
                w = 0;
                while (n < word.size()) {
                    const std::size_t step = char_bytes(word.substr(n));
                    const float next = measure(style, word.substr(0, n + step));
                    if (n > 0 && next > room) break;
                    n += step;
                    w = next;
                }
            }
            Token t;
            t.piece.kind = run.kind;
            t.piece.style = style;
            t.piece.text = word.substr(0, n);
            t.piece.link = run.link;
            t.piece.width = w;
            ImFont* f = font(style);
            t.ascent = std::round(font_ascent(f));
            t.descent = std::round(font_height(f) - font_ascent(f));
            push(std::move(t), may_break);
            word.remove_prefix(n);
            may_break = true;
        }
        const std::string& text = group_.back().piece.text;
        std::size_t at = text.size() - 1;
        while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
        last_char_ = text.substr(at);
    }

    bool is_cjk_last() const { return !last_char_.empty() && is_cjk(last_char_); }

    void push(Token t, bool may_break) {
        t.space = pending_space_;
        if (pending_space_ > 0 || may_break) end_group();
        pending_space_ = 0;
        group_.push_back(std::move(t));
    }

    // Moves the tokens that belong together into the line, or into the next one.
    void end_group() {
        if (group_.empty()) return;
        float w = 0;
        for (const Token& t : group_) w += t.space + t.piece.width;
        if (!line_.empty() && line_width_ + w > width_ - left_) end_line();
        for (Token& t : group_) {
            if (line_.empty()) t.space = 0;
            line_width_ += t.space + t.piece.width;
            line_.push_back(std::move(t));
        }
        group_.clear();
    }

    void end_line() {
        if (line_.empty()) return;
        float ascent = 0, descent = 0;
        for (const Token& t : line_) {
            ascent = std::max(ascent, t.ascent);
            descent = std::max(descent, t.descent);
        }
        const float baseline = y_ + ascent;
        float x = left_;
        if (!marker_.text.empty()) {
            marker_.y = baseline;
            view_.pieces_.push_back(std::move(marker_));
            marker_ = Piece{};
        }
        for (Token& t : line_) {
            x += t.space;
            t.piece.x = x;
            t.piece.y = baseline;
            x += t.piece.width;
            view_.pieces_.push_back(std::move(t.piece));
        }
        y_ += ascent + descent + px(2);
        line_.clear();
        line_width_ = 0;
    }

    void display(const MdBlock& b) {
        for (const MdRun& run : b.runs) {
            Piece p;
            p.kind = MdRun::Kind::Formula;
            const float room = width_ - left_;
            for (const float size : {20.0f, 17.0f, 14.0f, 12.0f, 10.0f}) {
                p.formula = layout_formula(ui_, run.text, size, FormulaStyle::Display);
                p.width = std::ceil(p.formula.width * ui_.scale);
                if (p.width <= room) break;
            }
            p.x = left_ + std::max(0.0f, std::round(std::min((room - p.width) / 2, px(24))));
            y_ += px(4);
            p.y = y_ + std::ceil(p.formula.ascent * ui_.scale);
            y_ = p.y + std::ceil(p.formula.descent * ui_.scale) + px(4);
            view_.pieces_.push_back(std::move(p));
        }
    }

    void code_block(const MdBlock& b) {
        std::string all;
        for (const MdRun& run : b.runs) all += run.text;
        std::string_view s = all;
        ImFont* f = font(Style::Code);
        while (!s.empty()) {
            const std::size_t n = std::min(s.find('\n'), s.size());
            Piece p;
            p.style = Style::Code;
            p.text = s.substr(0, n);
            p.x = left_ + px(8);
            p.y = y_ + std::round(font_ascent(f));
            p.width = measure(Style::Code, p.text);
            y_ += std::round(font_height(f)) + px(2);
            if (!p.text.empty()) view_.pieces_.push_back(std::move(p));
            s.remove_prefix(std::min(n + 1, s.size()));
        }
    }

    MarkdownView& view_;
    Ui& ui_;
    float width_, y_ = 0, left_ = 0, quote_top_ = -1, line_width_ = 0, pending_space_ = 0;
    bool after_formula_ = false;
    std::string last_char_;
    std::vector<Token> line_, group_;
    Piece marker_;
};

ImFont* MarkdownView::font(const Ui& ui, Style style) const {
    const Fonts& f = ui.fonts;
    const bool small = size_ == TextSize::Small;
    ImFont* font = style == Style::Bold      ? f.bold
                   : style == Style::Heading ? f.heading
                   : style == Style::Code    ? (small ? f.number_small : f.number)
                                             : (small ? f.small : f.body);
    return font ? font : ImGui::GetFont();
}

void MarkdownView::set(std::string_view source, TextSize size) {
    document_ = parse_markdown(source);
    size_ = size;
    laid_out_width_ = -1;
}

void MarkdownView::layout(Ui& ui, float width) {
    if (width == laid_out_width_ && ui.scale == laid_out_scale_ && ui.fonts.body == laid_out_font_) return;
    pieces_.clear();
    decorations_.clear();
    height_ = Layouter(*this, ui, width).run();
    laid_out_width_ = width;
    laid_out_scale_ = ui.scale;
    laid_out_font_ = ui.fonts.body;
}

float MarkdownView::measure(Ui& ui, float width) {
    layout(ui, std::floor(width));
    return height_;
}

void MarkdownView::draw(Ui& ui, const LinkCallback& clicked, Emphasis emphasis, float wanted) {
    const float width = std::max(ui.px(80), wanted > 0 ? wanted : ImGui::GetContentRegionAvail().x);
    layout(ui, std::floor(width));
    const Theme& t = ui.theme();
    const ImU32 text_ink = u32(emphasis == Emphasis::Full ? t.text : t.quiet);
    ImDrawList* draw = ImGui::GetWindowDrawList();
    ImVec2 at = ImGui::GetCursorScreenPos();
    at = {std::round(at.x), std::round(at.y)};
    const float top = draw->GetClipRectMin().y - at.y - ui.px(40), bottom = draw->GetClipRectMax().y - at.y + ui.px(80);

    for (const Decoration& d : decorations_) {
        if (d.rule)
            draw->AddRectFilled({at.x, at.y + d.top}, {at.x + width, at.y + d.top + 1}, u32(t.line));
        else
            draw->AddRectFilled({at.x, at.y + d.top}, {at.x + std::round(ui.px(3)), at.y + d.bottom}, u32(t.quiet),
                                ui.px(2));
    }
    // A link may be in several pieces: all of them answer to the mouse together.
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    int over = -1;
    if (ImGui::IsWindowHovered()) {
        for (const Piece& p : pieces_) {
            if (p.link < 0) continue;
            const float up = ui.px(18), down = ui.px(6);
            if (mouse.x >= at.x + p.x && mouse.x < at.x + p.x + p.width && mouse.y >= at.y + p.y - up &&
                mouse.y < at.y + p.y + down) {
                over = p.link;
            }
        }
    }
    for (std::size_t k = 0; k < pieces_.size(); ++k) {
        const Piece& p = pieces_[k];
        if (p.y < top || p.y > bottom) continue;
        const float x = at.x + p.x, y = at.y + p.y;
        if (p.kind == MdRun::Kind::Formula) {
            draw_formula(ui, draw, x, y, p.formula, text_ink);
        } else {
            ImFont* font = this->font(ui, p.style);
            ImU32 ink = text_ink;
            const float ascent = std::round(font_ascent(font));
            if (p.kind == MdRun::Kind::Code) {
                // The name of a tensor is live here too.
                const bool tensor = tensor_style(p.text).family != Family::Other;
                const ImVec2 a(x - ui.px(2), y - ascent), b(x + p.width + ui.px(2), y - ascent + font_height(font));
                if (tensor && ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect(a, b)) ui.hot.set(p.text);
                const bool hot = tensor && ui.hot.is(p.text);
                draw->AddRectFilled(a, b, hot ? u32(t.text_of(p.text), 0.25f) : u32(t.raised), ui.px(3));
                if (tensor) ink = u32(t.text_of(p.text));
            }
            draw->AddText(font, font_height(font), {std::round(x), y - ascent}, ink, p.text.data(),
                          p.text.data() + p.text.size());
        }
        if (p.link >= 0) {
            // The underline runs on to the next piece of the same link in the same line.
            float end = x + p.width;
            if (k + 1 < pieces_.size() && pieces_[k + 1].link == p.link && pieces_[k + 1].y == p.y)
                end = at.x + pieces_[k + 1].x;
            const float line = y + std::round(ui.px(3));
            draw->AddRectFilled({x, line},
                                {end, line + std::max(1.0f, std::round(ui.px(over == p.link ? 2.0f : 1.0f)))},
                                over == p.link ? text_ink : u32(t.quiet));
        }
    }
    if (over >= 0) {
        ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
        if (ImGui::IsMouseClicked(0) && clicked) clicked(document_.links[static_cast<std::size_t>(over)]);
    }
    ImGui::Dummy({width, height_});
}

}  // namespace flashstep::viz
