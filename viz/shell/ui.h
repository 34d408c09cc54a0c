// What every panel and widget draws with: theme, fonts, language, scale, and the symbol under the mouse.
#pragma once

#include <string>
#include <string_view>

#include "viz/shell/fonts.h"
#include "viz/shell/theme.h"
#include "viz/text/formula.h"
#include "viz/text/strings.h"

namespace flashstep::viz {

// The tensor under the mouse, anywhere: every drawing of the same name lights up. A drawing reports with set() and asks
// with is(); the answer is about the last frame, so that the order of panels does not matter.
class HotSymbol {
  public:
    void begin_frame() {
        changed_ = current_ != next_;
        current_.swap(next_);
        next_.clear();
    }
    void set(std::string_view name) { next_ = name; }
    bool is(std::string_view name) const { return !name.empty() && name == current_; }
    std::string_view current() const { return current_; }
    bool changed() const { return changed_; }  // since the frame before: the loop draws one more frame

  private:
    std::string current_, next_;
    bool changed_ = false;
};

inline constexpr Text kInEnglish{"{said}", "英文信息：{said}"};

struct Ui {
    ThemeMode mode = ThemeMode::Dark;
    Language language = Language::English;
    Fonts fonts;
    float scale = 1;  // content scale x zoom; 1 design pixel in screen pixels
    bool reduce_motion = false;
    HotSymbol hot;
    FormulaCache formulas;

    const Theme& theme() const { return viz::theme(mode); }
    float px(float design) const { return design * scale; }
    // A text that stands in the sources, which ends in a zero; the second with its placeholders filled in.
    const char* tr(const Text& text) const { return text.in(language).data(); }
    std::string tr(const Text& text, std::initializer_list<Placeholder> values) const {
        return fill(text.in(language), values);
    }
    // What only English says is marked as a quotation.
    std::string tr(const Sentence& said) const {
        return language == Language::Chinese && said.zh.empty() && !said.empty() ? tr(kInEnglish, {{"said", said.en}})
                                                                                 : said.in(language);
    }
};

}  // namespace flashstep::viz
