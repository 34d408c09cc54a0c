// Markdown through md4c into blocks of runs.
#include "viz/text/markdown.h"

#include <md4c.h>

namespace flashstep::viz {
namespace {

bool is_wide(std::string_view text, bool last) {
    if (text.empty()) return false;
    if (last) {
        std::size_t at = text.size() - 1;
        while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
        text.remove_prefix(at);
    }
    const auto c = static_cast<unsigned char>(text[0]);
    return c >= 0xE3 && c <= 0xEF;  // CJK, its punctuation and full-width forms
}

class Builder {
  public:
    explicit Builder(MdDocument& document) : d_(document) {}

    void enter(MD_BLOCKTYPE type, void* detail) {
        switch (type) {
            case MD_BLOCK_QUOTE:
                ++quote_;
                break;
            case MD_BLOCK_UL:
                lists_.push_back(0);
                break;
            case MD_BLOCK_OL:
                lists_.push_back(static_cast<int>(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start));
                break;
            case MD_BLOCK_LI:
                flush();
                marker_ = lists_.empty() || lists_.back() == 0 ? "•" : std::to_string(lists_.back()++) + ".";
                open(MdBlock::Kind::Item);
                break;
            case MD_BLOCK_H:
                open(MdBlock::Kind::Heading);
                block_.level = static_cast<int>(static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
                break;
            case MD_BLOCK_P:
                if (!open_) open(lists_.empty() ? MdBlock::Kind::Paragraph : MdBlock::Kind::Item);
                break;
            case MD_BLOCK_CODE:
                open(MdBlock::Kind::Code);
                break;
            case MD_BLOCK_HR:
                open(MdBlock::Kind::Rule);
                finish();
                break;
            default:
                break;
        }
    }

    void leave(MD_BLOCKTYPE type) {
        switch (type) {
            case MD_BLOCK_QUOTE:
                --quote_;
                break;
            case MD_BLOCK_UL:
            case MD_BLOCK_OL:
                flush();
                lists_.pop_back();
                break;
            case MD_BLOCK_LI:
            case MD_BLOCK_H:
            case MD_BLOCK_P:
            case MD_BLOCK_CODE:
                flush();
                break;
            default:
                break;
        }
    }

    void enter(MD_SPANTYPE type, void* detail) {
        switch (type) {
            case MD_SPAN_STRONG:
            case MD_SPAN_EM:
                ++bold_;
                break;
            case MD_SPAN_CODE:
                kind_ = MdRun::Kind::Code;
                break;
            case MD_SPAN_LATEXMATH:
            case MD_SPAN_LATEXMATH_DISPLAY:
                kind_ = MdRun::Kind::Formula;
                formula_.clear();
                break;
            case MD_SPAN_A: {
                const MD_ATTRIBUTE& href = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
                link_ = static_cast<int>(d_.links.size());
                d_.links.emplace_back(href.text, href.size);
                break;
            }
            default:
                break;
        }
    }

    void leave(MD_SPANTYPE type) {
        switch (type) {
            case MD_SPAN_STRONG:
            case MD_SPAN_EM:
                --bold_;
                break;
            case MD_SPAN_CODE:
                kind_ = MdRun::Kind::Text;
                break;
            case MD_SPAN_LATEXMATH:
                kind_ = MdRun::Kind::Text;
                push(MdRun::Kind::Formula, formula_);
                check(formula_);
                break;
            case MD_SPAN_LATEXMATH_DISPLAY: {
                kind_ = MdRun::Kind::Text;
                // A display formula stands on its own between the halves of its paragraph.
                const MdBlock::Kind outer = block_.kind;
                const bool was_open = open_;
                flush();
                open(MdBlock::Kind::Display);
                push(MdRun::Kind::Formula, formula_);
                check(formula_);
                finish();
                if (was_open) open(outer == MdBlock::Kind::Display ? MdBlock::Kind::Paragraph : outer);
                break;
            }
            case MD_SPAN_A:
                link_ = -1;
                break;
            default:
                break;
        }
    }

    void text(MD_TEXTTYPE type, std::string_view t) {
        if (kind_ == MdRun::Kind::Formula) {
            formula_ += type == MD_TEXT_SOFTBR || type == MD_TEXT_BR ? std::string_view(" ") : t;
            return;
        }
        if (!open_) open(lists_.empty() ? MdBlock::Kind::Paragraph : MdBlock::Kind::Item);
        switch (type) {
            case MD_TEXT_NULLCHAR:
                push(kind_, "\uFFFD");
                break;
            case MD_TEXT_BR:
                push(MdRun::Kind::Break, "");
                break;
            case MD_TEXT_SOFTBR:
                // Chinese lines join without a space.
                soft_break_ = !block_.runs.empty();
                wide_break_ = soft_break_ && is_wide(block_.runs.back().text, true);
                break;
            case MD_TEXT_ENTITY:
                push(kind_, entity(t));
                break;
            default:
                push(kind_, t);
                break;
        }
    }

    void finish() {
        if (open_) d_.blocks.push_back(std::move(block_));
        block_ = MdBlock{};
        open_ = false;
        soft_break_ = wide_break_ = false;
    }

  private:
    void open(MdBlock::Kind kind) {
        block_ = MdBlock{};
        block_.kind = kind;
        block_.quote = quote_ > 0;
        if (kind == MdBlock::Kind::Item) {
            block_.level = static_cast<int>(lists_.size());
            block_.marker.swap(marker_);
            marker_.clear();
        }
        open_ = true;
    }

    // Keeps the block if it says anything.
    void flush() {
        bool any = false;
        for (const MdRun& run : block_.runs) {
            any = any || run.kind != MdRun::Kind::Text || run.text.find_first_not_of(' ') != std::string::npos;
        }
        if (any) return finish();
        if (open_ && !block_.marker.empty()) marker_.swap(block_.marker);  // the item's own text is still to come
        block_ = MdBlock{};
        open_ = false;
        soft_break_ = wide_break_ = false;
    }

    void check(std::string_view formula) {
        const Formula parsed = parse_formula(formula);
        if (!parsed.error.empty()) d_.errors.push_back("formula \"" + std::string(formula) + "\": " + parsed.error);
    }

    static std::string_view entity(std::string_view t) {
        if (t == "&amp;") return "&";
        if (t == "&lt;") return "<";
        if (t == "&gt;") return ">";
        if (t == "&quot;") return "\"";
        if (t == "&nbsp;") return "\u00A0";
        return t;
    }

    void push(MdRun::Kind kind, std::string_view t) {
        if (!open_) open(lists_.empty() ? MdBlock::Kind::Paragraph : MdBlock::Kind::Item);
        if (soft_break_ && !(kind == MdRun::Kind::Text && is_wide(t, false) && wide_break_)) {
            soft_break_ = false;
            push(MdRun::Kind::Text, " ");
        }
        soft_break_ = wide_break_ = false;
        const bool bold = bold_ > 0;
        if (!block_.runs.empty() && kind != MdRun::Kind::Formula && kind != MdRun::Kind::Break) {
            MdRun& last = block_.runs.back();
            if (last.kind == kind && last.bold == bold && last.link == link_) {
                last.text += t;
                return;
            }
        }
        block_.runs.push_back({kind, std::string(t), bold, link_});
    }

    MdDocument& d_;
    MdBlock block_;
    bool open_ = false, soft_break_ = false, wide_break_ = false;
    int quote_ = 0, bold_ = 0, link_ = -1;
    std::vector<int> lists_;  // 0: bullets; else the next number
    std::string marker_, formula_;
    MdRun::Kind kind_ = MdRun::Kind::Text;
};

Builder& builder(void* data) { return *static_cast<Builder*>(data); }

}  // namespace

MdDocument parse_markdown(std::string_view source) {
    MdDocument document;
    Builder build(document);
    MD_PARSER parser{};
    parser.flags = MD_FLAG_LATEXMATHSPANS | MD_FLAG_NOHTML | MD_FLAG_COLLAPSEWHITESPACE | MD_FLAG_NOINDENTEDCODEBLOCKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* data) {
        return builder(data).enter(type, detail), 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* data) { return builder(data).leave(type), 0; };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* data) { return builder(data).enter(type, detail), 0; };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* data) { return builder(data).leave(type), 0; };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* data) {
        return builder(data).text(type, {text, size}), 0;
    };
    md_parse(source.data(), static_cast<MD_SIZE>(source.size()), &parser, &build);
    build.finish();
    return document;
}

}  // namespace flashstep::viz
