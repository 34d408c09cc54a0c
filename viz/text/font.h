// A font's measures at the size that it was baked at, in pixels, and its glyphs: what Dear ImGui 1.92 moved from the
// font to its sizes. All that reads them comes here.
#pragma once

#include <imgui.h>

#include <span>

namespace flashstep::viz {

#if IMGUI_VERSION_NUM >= 19200
// Dear ImGui loads what it is asked for, so that its own functions take no const font.
inline ImFontBaked& baked(const ImFont* font) { return *const_cast<ImFont*>(font)->GetFontBaked(font->LegacySize); }
inline float font_height(const ImFont* font) { return font->LegacySize; }
#else
inline const ImFont& baked(const ImFont* font) { return *font; }
inline float font_height(const ImFont* font) { return font->FontSize; }
#endif

// font_height() is that of a line; the ascent reaches from its top to the baseline.
inline float font_ascent(const ImFont* font) { return baked(font).Ascent; }
inline float char_advance(const ImFont* font, ImWchar c) { return baked(font).GetCharAdvance(c); }
// Null where the font has no glyph of its own for `c`.
inline const ImFontGlyph* glyph_of(const ImFont* font, ImWchar c) { return baked(font).FindGlyphNoFallback(c); }
inline std::span<const ImFontGlyph> glyphs_of(const ImFont* font) {
    const auto& glyphs = baked(font).Glyphs;
    return {glyphs.Data, static_cast<std::size_t>(glyphs.Size)};
}

// Of a text that is not empty, in lines no wider than `wrap` (0: one line). Where `rest` is given, the text ends before
// it is wider than `width`, and `rest` is where.
inline ImVec2 measured(const ImFont* font, const char* text, const char* end, float wrap = 0, float width = 1e9f,
                       const char** rest = nullptr) {
    return const_cast<ImFont*>(font)->CalcTextSizeA(font_height(font), width, wrap, text, end, rest);
}

struct AtlasSize {
    int width = 0, height = 0;  // texels
};
#if IMGUI_VERSION_NUM >= 19200
inline AtlasSize size_of(const ImFontAtlas& atlas) { return {atlas.TexData->Width, atlas.TexData->Height}; }
#else
inline AtlasSize size_of(const ImFontAtlas& atlas) { return {atlas.TexWidth, atlas.TexHeight}; }
#endif

}  // namespace flashstep::viz
