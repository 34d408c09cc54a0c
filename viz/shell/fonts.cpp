// Fonts by fontconfig, baked with FreeType; only the glyphs that are needed, so that the first frame comes fast.
#include "viz/shell/fonts.h"

#include <fontconfig/fontconfig.h>
#include <imgui.h>
#include <imgui_freetype.h>

#include <cmath>
#include <fstream>
#include <map>

#include "viz/text/characters.h"
#include "viz/text/math_glyphs.h"

namespace flashstep::viz {
namespace {

// The file of `family`, only if the system really has that family (fontconfig would offer another one).
FontFile find(FcConfig* config, const char* family, int weight, int slant, const char* language = nullptr) {
    FcPattern* pattern = FcPatternCreate();
    FcPatternAddString(pattern, FC_FAMILY, reinterpret_cast<const FcChar8*>(family));
    FcPatternAddInteger(pattern, FC_WEIGHT, weight);
    FcPatternAddInteger(pattern, FC_SLANT, slant);
    FcPatternAddBool(pattern, FC_SCALABLE, FcTrue);
    if (language) FcPatternAddString(pattern, FC_LANG, reinterpret_cast<const FcChar8*>(language));
    FcConfigSubstitute(config, pattern, FcMatchPattern);
    FcDefaultSubstitute(pattern);
    FcResult result = FcResultNoMatch;
    FcPattern* match = FcFontMatch(config, pattern, &result);
    FontFile file;
    if (match) {
        FcChar8* path = nullptr;
        int index = 0, found_slant = slant;
        bool same = false;
        FcChar8* name = nullptr;
        for (int k = 0; FcPatternGetString(match, FC_FAMILY, k, &name) == FcResultMatch; ++k) {
            same = same || std::string_view(reinterpret_cast<const char*>(name)) == family;
        }
        FcPatternGetInteger(match, FC_SLANT, 0, &found_slant);
        FcPatternGetInteger(match, FC_INDEX, 0, &index);
        if (same && found_slant == slant && FcPatternGetString(match, FC_FILE, 0, &path) == FcResultMatch) {
            file = {reinterpret_cast<const char*>(path), index & 0xFFFF};  // above: the instance of a variable font
        }
        FcPatternDestroy(match);
    }
    FcPatternDestroy(pattern);
    return file;
}

FontFile first(FcConfig* config, std::initializer_list<const char*> families, int weight, int slant,
               const char* language = nullptr) {
    for (const char* family : families) {
        if (FontFile file = find(config, family, weight, slant, language); !file.path.empty()) return file;
    }
    return {};
}

// The bytes of font files: shared by all sizes of a face, and alive while the atlas may read them.
class FileBytes {
  public:
    const std::vector<char>* get(const std::string& path) {
        const auto [it, added] = files_.try_emplace(path);
        if (added) {
            std::ifstream in(path, std::ios::binary | std::ios::ate);
            if (in) {
                it->second.resize(static_cast<std::size_t>(in.tellg()));
                in.seekg(0);
                in.read(it->second.data(), static_cast<std::streamsize>(it->second.size()));
                if (!in) it->second.clear();
            }
        }
        return it->second.empty() ? nullptr : &it->second;
    }
    float line(const FontFile& file) {
        const std::vector<char>* data = get(file.path);
        const auto [it, added] = lines_.try_emplace({file.path, file.index}, 1.0f);
        if (added && data) it->second = line_em(*data, file.index);
        return it->second;
    }
    std::vector<ImVector<ImWchar>> ranges;
    MathGlyphs math;

  private:
    std::map<std::pair<std::string, int>, float> lines_;
    std::map<std::string, std::vector<char>> files_;
};

// What formulas and numbers are written with, beyond Latin-1 and Greek.
constexpr const char* kMathText = "−∞≤≥≠≈≡∼∝≪≫·⊤∑∏√∘⊙⊕←→⇒↦↑↓∈ℝℕℤᵀ˜ˆ¯⌈⌉⌊⌋⟨⟩…⋯‖×÷±∂ℓ′∗⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺⁽⁾ⁱʲⁿ₀₁₂₃₄–—‘’“”•✓✗";

bool is_cjk(unsigned c) {
    return (c >= 0x2E80 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFF00 && c <= 0xFFEF);
}

struct Ranges {
    const ImWchar *latin = nullptr, *cjk = nullptr;
};

Ranges make_ranges(FileBytes& bytes) {
    static constexpr ImWchar kBasic[] = {0x0020, 0x00FF, 0x0391, 0x03C9, 0};
    ImFontGlyphRangesBuilder latin, cjk;
    latin.AddRanges(kBasic);
    latin.AddText(kMathText);
    const std::string_view texts = text_characters();  // each of three bytes
    for (std::size_t k = 0; k + 2 < texts.size(); k += 3) {
        const auto bits = [&](std::size_t byte, unsigned mask) {
            return static_cast<unsigned char>(texts[k + byte]) & mask;
        };
        const unsigned c = bits(0, 0x0F) << 12 | bits(1, 0x3F) << 6 | bits(2, 0x3F);
        (is_cjk(c) ? cjk : latin).AddChar(static_cast<ImWchar>(c));
    }
    bytes.ranges.resize(2);
    latin.BuildRanges(&bytes.ranges[0]);
    cjk.BuildRanges(&bytes.ranges[1]);
    return {bytes.ranges[0].Data, bytes.ranges[1].Data};
}

// Adds one face at an em of `pixels`, or merges it into the last added; null if the file cannot be read.
ImFont* add_face(ImFontAtlas& atlas, FileBytes& bytes, const FontFile& file, float pixels, const ImWchar* ranges,
                 bool merge) {
    if (file.path.empty()) return nullptr;
    const std::vector<char>* data = bytes.get(file.path);
    if (!data) return nullptr;
    ImFontConfig config;
    config.FontDataOwnedByAtlas = false;
    config.FontNo = file.index;
    config.MergeMode = merge;
    config.PixelSnapH = true;
    pixels = std::round(pixels * bytes.line(file));
    config.OversampleH = config.OversampleV = 1;
#if IMGUI_VERSION_NUM < 19200
    config.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
    return atlas.AddFontFromMemoryTTF(const_cast<char*>(data->data()), static_cast<int>(data->size()), pixels, &config,
                                      ranges);
}

}  // namespace

FontFiles find_fonts() {
    FontFiles f;
    FcConfig* config = FcInitLoadConfigAndFonts();
    if (!config) return f;
    const int regular = FC_WEIGHT_REGULAR, bold = FC_WEIGHT_BOLD, roman = FC_SLANT_ROMAN;
    const auto sans = {"Noto Sans", "Source Sans 3", "Open Sans", "DejaVu Sans"};
    const auto cjk = {"Noto Sans CJK SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "WenQuanYi Micro Hei"};
    const auto math = {"STIXGeneral", "STIX", "STIX Two Text", "DejaVu Serif"};
    f.sans = first(config, sans, regular, roman);
    f.sans_bold = first(config, sans, bold, roman);
    f.cjk = first(config, cjk, regular, roman, "zh-cn");
    f.cjk_bold = first(config, cjk, bold, roman, "zh-cn");
    f.mono = first(config, {"DejaVu Sans Mono", "Noto Sans Mono", "Liberation Mono"}, regular, roman);
    f.math = first(config, math, regular, roman);
    f.math_italic = first(config, math, regular, FC_SLANT_ITALIC);
    FcConfigDestroy(config);
    return f;
}

int Fonts::math_size(float design_px) {
    int best = 0;
    for (int k = 1; k < kMathSizes; ++k) {
        if (std::abs(kMathPixels[k] - design_px) < std::abs(kMathPixels[best] - design_px)) best = k;
    }
    return best;
}

Fonts build_fonts(ImFontAtlas& atlas, float scale, const FontFiles& files) {
    Fonts f;
    f.scale = scale;
    auto bytes = std::make_shared<FileBytes>();
    f.glyphs = {bytes, &bytes->math};
    const Ranges ranges = make_ranges(*bytes);
    atlas.Clear();
    atlas.Flags |= ImFontAtlasFlags_NoMouseCursors;
#if IMGUI_VERSION_NUM < 19200
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
#endif

    const auto px = [&](float design) { return std::round(design * scale); };
    const auto text_font = [&](const FontFile& face, const FontFile& cjk, float design) {
        ImFont* font = add_face(atlas, *bytes, face, px(design), ranges.latin, false);
        if (!font) {
            ImFontConfig config;
            config.SizePixels = px(design);
            font = atlas.AddFontDefault(&config);
        }
        add_face(atlas, *bytes, cjk, px(design), ranges.cjk, true);
        // Characters that a text face lacks (math signs, raised letters) come from the monospaced and the math face.
        add_face(atlas, *bytes, files.mono, px(design), ranges.latin, true);
        add_face(atlas, *bytes, files.math, px(design), ranges.latin, true);
        return font;
    };
    const FontFile& bold = files.sans_bold.path.empty() ? files.sans : files.sans_bold;
    const FontFile& cjk_bold = files.cjk_bold.path.empty() ? files.cjk : files.cjk_bold;
    f.body = text_font(files.sans, files.cjk, kBodyPixels);
    f.bold = text_font(bold, cjk_bold, kBodyPixels);
    f.small = text_font(files.sans, files.cjk, 13);
    f.heading = text_font(bold, cjk_bold, 20);
    f.number = text_font(files.mono, files.cjk, 15);
    f.number_small = text_font(files.mono, {}, 12);
    for (int face = 0; face < 2; ++face) {
        const FontFile& file = face == 1 && !files.math_italic.path.empty() ? files.math_italic : files.math;
        for (int k = 0; k < kMathSizes; ++k) {
            ImFont* font = add_face(atlas, *bytes, file, px(kMathPixels[k]), ranges.latin, false);
            if (font && face == 1) add_face(atlas, *bytes, files.math, px(kMathPixels[k]), ranges.latin, true);
            if (font) add_face(atlas, *bytes, files.mono, px(kMathPixels[k]), ranges.latin, true);
            f.math[face][k] = font ? font : f.body;
        }
    }
    atlas.Build();
    const auto data = [&](const FontFile& file) { return file.path.empty() ? nullptr : bytes->get(file.path); };
    bytes->math.open(data(files.math), files.math.index, data(files.math_italic), files.math_italic.index);

    const auto note = [&](bool missing, const char* what, const char* package) {
        if (!missing) return;
        if (!f.message.empty()) f.message += ", ";
        f.message += std::string(what) + " (" + package + ")";
    };
    note(files.sans.path.empty(), "a sans face", "fonts-noto-core");
    note(files.cjk.path.empty(), "a Chinese face", "fonts-noto-cjk");
    note(files.mono.path.empty(), "a monospaced face", "fonts-dejavu-core");
    note(files.math.path.empty(), "a math face", "fonts-stix");
    if (!f.message.empty()) f.message = "Fonts not found: " + f.message + ". Text is drawn with what is there.";
    return f;
}

}  // namespace flashstep::viz
