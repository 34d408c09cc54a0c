// Lesson texts: a subset of Markdown with live formulas and links to steps, parsed once, laid out by width, drawn by
// line.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "viz/text/formula.h"

struct ImFont;

namespace flashstep::viz {

struct Ui;

struct MdRun {
    enum class Kind { Text, Code, Formula, Break };
    Kind kind = Kind::Text;
    std::string text;
    bool bold = false;
    int link = -1;  // index into MdDocument::links
};

struct MdBlock {
    enum class Kind { Paragraph, Heading, Item, Display, Code, Rule };
    Kind kind = Kind::Paragraph;
    int level = 0;       // of a heading, 1..6; of an item, how deep its list is nested, from 1
    bool quote = false;  // within a block quote: a question to the reader
    std::string marker;  // of an item: "•" or "3."; empty for the further paragraphs of an item
    std::vector<MdRun> runs;
};

struct MdDocument {
    std::vector<MdBlock> blocks;
    std::vector<std::string> links;   // targets: "step:17", "line:9", "tile:1,2"
    std::vector<std::string> errors;  // formulas that do not parse, each with its reason
};

// Knows headings, paragraphs, **bold**, `code`, lists, > quotes, [links](step:17), $formulas$, $$display formulas$$,
// code blocks and rules. HTML and tables are shown as text.
MdDocument parse_markdown(std::string_view source);

using LinkCallback = std::function<void(std::string_view target)>;

enum class Emphasis { Full, Quiet };  // Quiet: in the colour of what is secondary
enum class TextSize { Body, Small };  // Small: of what is secondary

class MarkdownView {
  public:
    void set(std::string_view source, TextSize size = TextSize::Body);
    const MdDocument& document() const { return document_; }
    // Draws at the cursor over the width that is left, or over `width` pixels. `clicked` gets a link's target.
    void draw(Ui& ui, const LinkCallback& clicked, Emphasis emphasis = Emphasis::Full, float width = 0);
    float measure(Ui& ui, float width);       // the height at that width, in pixels
    float height() const { return height_; }  // of the last layout, in pixels

  private:
    enum class Style { Body, Bold, Heading, Code };
    struct Piece {
        MdRun::Kind kind = MdRun::Kind::Text;
        Style style = Style::Body;
        float x = 0, y = 0, width = 0;  // y: baseline
        std::string text;
        FormulaLayout formula;
        int link = -1;
    };
    struct Decoration {
        bool rule = false;  // a line across; else the bar beside a quote
        float x = 0, top = 0, bottom = 0;
    };
    class Layouter;

    void layout(Ui& ui, float width);
    ImFont* font(const Ui& ui, Style style) const;

    MdDocument document_;
    TextSize size_ = TextSize::Body;
    std::vector<Piece> pieces_;
    std::vector<Decoration> decorations_;
    float height_ = 0, laid_out_width_ = -1, laid_out_scale_ = 0;
    const void* laid_out_font_ = nullptr;
};

}  // namespace flashstep::viz
