// The texts of a frame, read back from its triangles: a glyph is a rectangle cut out of the fonts' atlas, so that
// nothing that is drawn is missed, whichever function drew it.
#pragma once

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "viz/text/font.h"

namespace flashstep::testing {

// Glyphs of one font that stand without a space between.
struct DrawnRun {
    std::string text;
    const ImFont* font = nullptr;
    bool cut = false;  // at an edge of what is visible: its first or last word may be a part of one
    ImVec2 at = {};    // the middle of its first glyph's line
};

class DrawnText {
  public:
    explicit DrawnText(const ImFontAtlas& atlas)
        : width_(viz::size_of(atlas).width), height_(viz::size_of(atlas).height) {
        owner_.resize(static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
        for (const ImFont* font : atlas.Fonts)
            for (const ImFontGlyph& glyph : viz::glyphs_of(font)) {
                if (!glyph.Visible) continue;
                glyphs_.push_back({font, &glyph});
                for (int y = texel(glyph.V0, height_); y < texel(glyph.V1, height_); ++y)
                    for (int x = texel(glyph.U0, width_); x < texel(glyph.U1, width_); ++x)
                        owner_[place(x, y)] = static_cast<int>(glyphs_.size());
            }
    }

    std::vector<DrawnRun> read(const ImDrawData& data) const {
        std::vector<DrawnRun> runs;
        for (int k = 0; k < data.CmdListsCount; ++k) read(*data.CmdLists[k], runs);
        return runs;
    }

  private:
    struct Glyph {
        const ImFont* font;
        const ImFontGlyph* glyph;
    };
    static int texel(float part, int size) { return static_cast<int>(std::lround(part * static_cast<float>(size))); }
    std::size_t place(int x, int y) const {
        return static_cast<std::size_t>(y) * static_cast<std::size_t>(width_) + static_cast<std::size_t>(x);
    }

    void read(const ImDrawList& list, std::vector<DrawnRun>& runs) const {
        const ImFont* font = nullptr;
        float pen = 0, base = 0;  // where the next glyph of the run would start
        for (const ImDrawCmd& command : list.CmdBuffer) {
            const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
            const auto vertex = [&](unsigned k) -> const ImDrawVert& {
                return list.VtxBuffer[static_cast<int>(command.VtxOffset + index[k])];
            };
            for (unsigned k = 0; k + 6 <= command.ElemCount;) {
                const bool rectangle = index[k + 1] == index[k] + 1 && index[k + 2] == index[k] + 2 &&
                                       index[k + 3] == index[k] && index[k + 4] == index[k] + 2 &&
                                       index[k + 5] == index[k] + 3;
                const ImDrawVert &a = vertex(k), &b = vertex(k + 2);
                const int owner = rectangle && a.uv.x < b.uv.x ? owner_at(a.uv, b.uv) : 0;
                k += rectangle ? 6 : 3;
                if (owner == 0) continue;
                const auto [own, glyph] = glyphs_[static_cast<std::size_t>(owner - 1)];
                const bool whole = std::abs(a.uv.x - glyph->U0) < 1e-6f && std::abs(b.uv.x - glyph->U1) < 1e-6f;
                const float zoom = whole ? (b.pos.x - a.pos.x) / (glyph->X1 - glyph->X0) : 1;
                const float start = a.pos.x - glyph->X0 * zoom, top = a.pos.y - glyph->Y0 * zoom;
                const bool goes_on = own == font && std::abs(start - pen) < 1.6f && std::abs(top - base) < 2;
                if (!goes_on) {
                    runs.push_back({{}, own, false, {start, top + viz::font_height(own) / 2}});
                    font = own;
                    runs.back().cut = start < command.ClipRect.x + 2;
                }
                append(runs.back().text, glyph->Codepoint);
                pen = start + glyph->AdvanceX * zoom, base = top;
                runs.back().cut |= !whole || pen + viz::font_height(own) > command.ClipRect.z;
            }
        }
    }

    int owner_at(ImVec2 a, ImVec2 b) const {
        const int x = static_cast<int>((a.x + b.x) / 2 * static_cast<float>(width_)),
                  y = static_cast<int>((a.y + b.y) / 2 * static_cast<float>(height_));
        return x < 0 || y < 0 || x >= width_ || y >= height_ ? 0 : owner_[place(x, y)];
    }

    static void append(std::string& text, unsigned c) {
        if (c < 0x80) {
            text += static_cast<char>(c);
        } else if (c < 0x800) {
            text += {static_cast<char>(0xC0 | c >> 6), static_cast<char>(0x80 | (c & 0x3F))};
        } else {
            text += {static_cast<char>(0xE0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3F)),
                     static_cast<char>(0x80 | (c & 0x3F))};
        }
    }

    int width_, height_;
    std::vector<Glyph> glyphs_;
    std::vector<int> owner_;  // of each texel: 1 + the glyph; 0: none
};

}  // namespace flashstep::testing
