// Both languages' screens, whatever is chosen and opened: nothing English in Chinese but names and terms, nothing
// Chinese in English. The texts are read back from the pixels' triangles (drawn_text.h).
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "core/error.h"
#include "core/io/csv.h"
#include "core/io/npy.h"
#include "gpu/run.h"
#include "lab/kernel_choice.h"
#include "tests/viz/drawn_text.h"
#include "tests/viz/stage.h"
#include "viz/panels/inputs_draft.h"
#include "viz/panels/inputs_edit.h"
#include "viz/panels/panels.h"
#include "viz/panels/tour.h"
#include "viz/shell/lesson_walk.h"

using namespace flashstep;
using namespace flashstep::viz;
using flashstep::testing::DrawnRun;
using flashstep::testing::DrawnText;
using flashstep::testing::Stage;

namespace {

// What Chinese engineers say and write in English. Names with a digit or an underscore need no entry (fp16, sm_80,
// B_r).
constexpr const char* kTerms[] = {
    // hardware, CUDA
    "CPU", "GPU", "NVIDIA", "CUDA", "HBM", "SRAM", "DRAM", "KiB", "MiB", "GiB", "FLOPs", "kernel", "block", "warp",
    "thread", "tile", "SM", "bank", "lane", "shared", "memory", "shuffle", "barrier", "wavefront", "swizzle", "cp",
    "async", "mma", "Tensor", "Core", "nvcc", "PTX",
    // attention
    "softmax", "safe", "head", "query", "key", "value", "batch", "mask", "dropout", "token",
    // formulas, names of sizes
    "exp", "log", "sum", "max", "diag", "rowmax", "rowsum", "NaN", "inf", "double", "exact", "dO", "Nk", "br", "bc",
    "nk", "dv", "kv", "heads",
    // files, configuration, keys
    "npy", "csv", "descr", "shape", "dtype", "True", "False", "real", "OFF", "Ctrl", "Shift", "Esc", "Space",
    "Backspace", "Enter", "Home", "End", "EN"};

std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_name(char c) { return c == '_' || c == '-' || std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::set<std::string> words_of(std::string_view text) {
    std::set<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t end = at;
        while (end < text.size() && is_letter(text[end])) ++end;
        if (end > at) words.insert(lower(text.substr(at, end - at)));
        at = end + 1;
    }
    return words;
}

// Terms, and the sources, which are cited in their own language.
std::set<std::string> known_words() {
    std::set<std::string> words;
    for (const char* term : kTerms) words.insert(lower(term));
    for (const Algorithm& algorithm : algorithms()) words.merge(words_of(algorithm.source));
    return words;
}

// Names of what there is to choose. Those with a digit or an underscore are known by that.
std::set<std::string> known_names() {
    std::set<std::string> names;
    for (const Preset& preset : presets()) names.emplace(preset.id);
    for (const Fault& fault : faults()) names.emplace(fault.id);
    for (const Lesson& lesson : lessons()) names.emplace(lesson.id);
    return names;
}

class Reader {
  public:
    explicit Reader(Stage& stage) : stage_(stage), drawn_(*ImGui::GetIO().Fonts) {}

    std::set<std::string> allowed = known_words();  // more of them where a lesson is shown
    std::map<std::string, std::string> wrong;       // what is in the other language, and where it was first seen

    void look(const std::string& where) {
        if (stage_.app.run)  // m_old: a name of the algorithm
            for (const Tensor& tensor : stage_.app.run->trace.tensors) allowed.merge(words_of(tensor.name));
        const std::vector<DrawnRun> runs = drawn_.read(*stage_.frame());
        CHECK(runs.size() > 3);
        for (const DrawnRun& run : runs) {
            for (const std::string& word :
                 stage_.app.ui.language == Language::Chinese ? english_in(run) : chinese_in(run))
                wrong.emplace(word, where);
        }
    }
    // A sentence that is not drawn here.
    void read(const Sentence& sentence) {
        CHECK_MESSAGE(!sentence.zh.empty(), sentence.en);
        const bool chinese = stage_.app.ui.language == Language::Chinese;
        const DrawnRun run{sentence.in(stage_.app.ui.language), stage_.app.ui.fonts.body};
        for (const std::string& word : chinese ? english_in(run) : chinese_in(run)) wrong.emplace(word, sentence.en);
    }
    std::string report() const {
        std::string text;
        for (const auto& [word, where] : wrong) text += "\n  " + word + " (" + where + ")";
        return text;
    }

  private:
    // Numbers and code are monospaced, variables italic.
    bool has_words(const ImFont* font) const {
        const Fonts& fonts = stage_.app.ui.fonts;
        if (font == fonts.number || font == fonts.number_small) return false;
        return std::ranges::find(fonts.math[1], font) == fonts.math[1].end();
    }
    // `at`: where the word or name stands in its run. One that is cut off may be a part of a known one.
    bool known(const DrawnRun& run, std::size_t at, const std::string& word, const std::set<std::string>& all) const {
        if (all.contains(word)) return true;
        const std::size_t end = at + word.size();
        const bool ellipsis = run.text.compare(end, 3, "…") == 0, last = end == run.text.size();
        const auto starts = [&](const std::string& whole) { return whole.starts_with(word); };
        const auto ends = [&](const std::string& whole) { return whole.ends_with(word); };
        return ((ellipsis || (run.cut && last)) && std::ranges::any_of(all, starts)) ||
               (run.cut && at == 0 && std::ranges::any_of(all, ends));
    }
    std::vector<std::string> english_in(const DrawnRun& run) const {
        std::vector<std::string> found;
        if (!has_words(run.font)) return found;
        const std::string& text = run.text;
        for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
            end = at;
            while (end < text.size() && is_name(text[end])) ++end;
            const std::string name = text.substr(at, end - at);
            if (known(run, at, name, names_)) continue;
            for (std::size_t from = 0, to = 0; from < name.size(); from = to + 1) {  // "log-sum-exp" is three words
                to = std::min(name.find('-', from), name.size());
                const std::string word = name.substr(from, to - from);
                if (word.size() > 1 && std::ranges::all_of(word, is_letter) &&
                    !known(run, at + from, lower(word), allowed))
                    found.push_back(word);
            }
        }
        if (text.find('?') != std::string::npos) found.push_back(text);  // also what a font lacks
        for (const char* mark : {",", ";", ":", "!"})                    // between Chinese characters they are wide
            for (std::size_t k = text.find(mark); k != std::string::npos; k = text.find(mark, k + 1))
                if (k >= 3 && is_han(text, k - 3)) found.push_back(text);
        return found;
    }
    static bool is_han(const std::string& text, std::size_t at) {
        return static_cast<unsigned char>(text[at]) >= 0xE4 && static_cast<unsigned char>(text[at]) <= 0xE9;
    }
    std::vector<std::string> chinese_in(const DrawnRun& run) const {
        if (run.text == "中") return {};  // the button that changes the language
        for (std::size_t k = 0; k + 2 < run.text.size(); ++k) {
            const auto c = static_cast<unsigned char>(run.text[k]);
            // U+3000 on, with the wide forms at U+FF00 on.
            if ((c >= 0xE3 && c <= 0xE9) || (c == 0xEF && static_cast<unsigned char>(run.text[k + 1]) >= 0xBC))
                return {run.text};
        }
        return {};
    }

    Stage& stage_;
    DrawnText drawn_;
    std::set<std::string> names_ = known_names();
};

// A window that has room for nearly all that a panel or a list can hold.
struct Screen : Stage {
    explicit Screen(Language language, const char* preset = "n4d3") : Stage(start(language, preset), 1900, 1800) {}
    static StartState start(Language language, const char* preset) {
        StartState s;
        s.lesson.clear();
        s.preset = preset;
        s.language = language;
        return s;
    }
};

// At the inputs, the first steps, in the middle and at the end.
void look_at_steps(Screen& s, Reader& reader, const std::string& where) {
    if (!s.app.player) return;
    const int count = s.app.player->count();
    for (const int position : {0, 1, 2, count / 3, count / 2, 2 * count / 3, count}) {
        s.app.seek(s.app.player->step_at(position));
        s.frame();
        reader.look(where);
    }
}

// Opens what `open` opens, looks, and closes it.
void look_at(Screen& s, Reader& reader, bool AppState::*open, const std::string& where) {
    s.app.*open = true;
    s.frame(), s.frame();
    reader.look(where);
    s.app.*open = false;
    s.frame(), s.frame();
}

// Every item under the mouse once, for what it says then.
void sweep(Screen& s, Reader& reader, float width, float height, const std::string& where) {
    for (float y = 8; y < height; y += 20)
        for (float x = 10; x < width; x += 26) {
            feed_mouse(x, y);
            s.frame();
            reader.look(where + ", under the mouse");
        }
    feed_mouse(-1e6f, -1e6f);
    s.frame();
}

template <class Look>
void in_both(Look look) {
    for (const Language language : {Language::Chinese, Language::English}) {
        Screen s(language);
        Reader reader(s);
        look(s, reader);
        CHECK_MESSAGE(reader.wrong.empty(),
                      (language == Language::Chinese ? "English in Chinese:" : "Chinese in English:"), reader.report());
    }
}

}  // namespace

TEST_CASE("every lesson, preset, algorithm, kernel and mistake is shown in one language") {
    in_both([](Screen& s, Reader& reader) {
        for (const Lesson& lesson : lessons()) {
            s.app.open_lesson(lesson);
            s.settle();
            const std::set<std::string> before = reader.allowed;
            // Its text is written by hand in each language; its sources are cited in their own.
            visit_prose(lesson,
                        [&](const Prose& prose) { reader.allowed.merge(words_of(prose.in(s.app.ui.language).text)); });
            for (const std::string& source : lesson.sources) reader.allowed.merge(words_of(source));
            do {
                s.settle();
                if (s.app.run && s.app.run->kernel_message.zh.empty())  // what the executor says is quoted
                    reader.allowed.merge(words_of(s.app.run->kernel_message.en));
                reader.look("lesson " + lesson.id);
            } while (continue_lesson(s.app));
            reader.allowed = before;
        }
        s.app.lesson = nullptr;  // the last one stays beside its own preset, and has been read
        for (const Preset& preset : presets()) {
            s.app.open_preset(preset);
            s.settle();
            look_at_steps(s, reader, "preset " + std::string(preset.id));
        }
        s.app.open_preset(*find_preset("n4d3"));
        s.settle();
        for (const Algorithm& algorithm : algorithms()) {
            choose_algorithm(s.app, algorithm);
            s.settle();
            CHECK(s.app.session.error().empty());
            look_at_steps(s, reader, "algorithm " + std::string(algorithm.id));
        }
        for (const gpu::KernelInfo& kernel : gpu::kernels()) {  // many say why they do not run so small a problem
            choose_kernel(s.app, kernel.id);
            s.settle();
            CAPTURE(kernel.id);
            CHECK(s.app.session.error().empty());
            CHECK((s.app.run->kernel_message.empty() || !s.app.run->kernel_message.zh.empty()));
            reader.look("kernel " + std::string(kernel.id));
        }
        for (const Fault& fault : faults()) {
            s.app.open_preset(*find_preset(fault.preset), &fault);
            s.settle();
            look_at_steps(s, reader, "mistake " + std::string(fault.id));
            s.app.open_preset(*find_preset("n4d3"));
            choose_fault(s.app, &fault);  // where it may not show
            s.settle();
            reader.look("mistake " + std::string(fault.id) + " in n4d3");
        }
    });
}

TEST_CASE("every panel alone, and all that opens above the panels, is in one language") {
    in_both([](Screen& s, Reader& reader) {
        for (const Panel& panel : panels()) {
            toggle_focus(s.app, panel);
            s.frame();
            look_at_steps(s, reader, "panel " + std::string(panel.id));
            toggle_focus(s.app, panel);
        }
        // The formulas of masked cells and of long sums hold words.
        toggle_focus(s.app, *find_panel("explain"));
        for (const char* preset : {"n64", "n64_causal", "masked_rows"}) {
            s.app.open_preset(*find_preset(preset));
            s.settle();
            for (int position = 1; position <= std::min(30, s.app.player->count()); ++position) {
                s.app.seek(s.app.player->step_at(position));
                const Step& step = s.app.player->current();
                for (int v = step.version_begin; v < step.version_end; ++v) {
                    const Version& version = s.app.run->trace.versions[v];
                    s.app.selected = CellRef{version.tensor, 0, version.cols - 1};
                    s.frame();
                    reader.look("explained in " + std::string(preset));
                }
            }
        }
        toggle_focus(s.app, *find_panel("explain"));
        s.app.open_preset(*find_preset("n4d3"));
        s.settle();
        look_at(s, reader, &AppState::help_open, "help");
        for (const Lesson& lesson : lessons())
            for (const Prose* prose : {&lesson.title, &lesson.aim})
                reader.allowed.merge(words_of(prose->in(s.app.ui.language).text));
        look_at(s, reader, &AppState::shelf_open, "shelf");
        for (int hint = 0; hint < 4; ++hint) {
            show_hint(s.app, hint);
            CHECK(tour_runs(s.app));
            reader.look("hints");
        }
        end_tour(s.app);
        for (const MaskShape mask : {MaskShape::None, MaskShape::Keys, MaskShape::Scores}) {
            Problem problem = s.problem();
            problem.mask = mask;
            s.app.session.resize(problem);
            s.settle();
            for (int matrix = 0; matrix < kInputMatrices; ++matrix) {
                s.app.inputs_open = true;
                s.frame();
                own_state<InputsDraft>(s.app).matrix = matrix;
                look_at(s, reader, &AppState::inputs_open, "inputs");
            }
        }
        Problem large = s.problem();
        large.n = 200;  // too many cells to edit
        s.app.session.resize(large);
        s.settle();
        look_at(s, reader, &AppState::inputs_open, "inputs");
        s.app.open_preset(*find_preset("n4d3"));
        s.settle();
        std::vector<std::string> filters{"", "nothing is called so 7"};
        for (const Algorithm& algorithm : algorithms()) filters.emplace_back(algorithm.id);
        for (const gpu::KernelInfo& kernel : gpu::kernels()) filters.emplace_back(kernel.id);
        for (const Preset& preset : presets()) filters.emplace_back(preset.id);
        for (const Fault& fault : faults()) filters.emplace_back(fault.id);
        for (const std::string& filter : filters) {
            s.app.picker_open = true;
            s.frame(), s.frame();
            s.type(filter.c_str());
            look_at(s, reader, &AppState::picker_open, "picker " + filter);
        }
        const Language language = s.app.ui.language;
        for (const char* algorithm : {"fa2_forward", "fa2_backward", "standard_attention"}) {  // lists of the top bar
            choose_algorithm(s.app, *find_algorithm(algorithm));
            s.settle();
            for (float x = 20; x < 1900; x += 60) {
                s.click(x, 28);
                s.app.ui.language = language;  // there is a button for it
                s.frame();
                reader.look("a list of the top bar");
                s.press(Key::Escape);
                s.app.inputs_open = s.app.help_open = false;
                s.frame();
            }
        }
        s.screen.resize(500, 300);
        s.frame();
        reader.look("a small window");
    });
}

TEST_CASE("what is under the mouse explains itself in one language") {
    in_both([](Screen& s, Reader& reader) {
        s.screen.resize(1280, 720);
        sweep(s, reader, 1280, 720, "n4d3");
        s.app.open_preset(*find_preset("n64_causal"));
        s.settle();
        s.app.seek(s.app.player->step_at(s.app.player->count() / 2));
        sweep(s, reader, 1280, 720, "n64_causal");
    });
}

// The errors of `act`; nothing where it does not throw.
template <class Act>
void read_error(Reader& reader, Act act) {
    try {
        act();
    } catch (const Error& error) { reader.read(error.whole()); }
}

TEST_CASE("what is typed wrongly is refused in the language of the app") {
    in_both([](Screen& s, Reader& reader) {
        const char* const wrong[] = {"-3", "0", "2.5", "many", "1e300", "7e15", "99999", "nan", "inf", ""};
        const char* const paths[] = {"/nowhere/q.npy", "/", "q.txt", FLASHSTEP_SOURCE_DIR "/tests/q.csv"};
        for (const char* text : wrong) reader.allowed.merge(words_of(text));
        for (const char* path : paths) reader.allowed.merge(words_of(path));
        const auto show = [&](const Error& error) {
            reader.read(error.whole());
            s.app.inputs_open = true;
            s.frame();
            own_state<InputsDraft>(s.app).error = error.whole();
            own_state<InputsDraft>(s.app).field = "file";
            look_at(s, reader, &AppState::inputs_open, error.what());
        };
        for (int field = 0; field <= static_cast<int>(Field::Sram); ++field)
            for (const char* text : wrong) {
                try {
                    with_field(s.problem(), static_cast<Field>(field), text);
                } catch (const Error& error) { show(error); }
            }
        for (const char* path : paths)
            for (const InputMatrix matrix : {InputMatrix::Q, InputMatrix::M}) {
                try {
                    load_matrix(s.app.session, matrix, path);
                } catch (const Error& error) { show(error); }
            }
    });
}

TEST_CASE("a run that cannot be is refused in the language of the app") {
    in_both([](Screen& s, Reader& reader) {
        const auto run_with = [&](const std::function<void(Problem&)>& change) {
            Problem problem = s.problem();
            change(problem);
            s.app.session.resize(problem);
            s.settle();
            CHECK_FALSE(s.app.session.error().empty());
            reader.read(s.app.session.error());
            reader.look(s.app.session.error().en);
            s.app.session.dismiss_error();
        };
        run_with([](Problem& p) { p.sram_bytes = 40; });
        run_with([](Problem& p) { p.sram_bytes = 1; });
        run_with([](Problem& p) { p.n = p.nk = 3000, p.br = p.bc = 1; });
        run_with([](Problem& p) { p.n = p.nk = p.br = p.bc = 20000, p.d = p.dv = 1; });
        Problem endless;
        endless.n = endless.nk = kMaxRows, endless.br = endless.bc = 1;
        read_error(reader, [&] { count(*find_algorithm("fa2_forward"), endless); });
        endless.br = endless.bc = kMaxRows, endless.d = endless.dv = kMaxHeadDim;
        read_error(reader, [&] { count(*find_algorithm("fa2_forward"), endless); });
        // Why a kernel does not run a problem.
        const std::function<void(Problem&)> changes[] = {
            [](Problem&) {},
            [](Problem& p) { p.dtype = DType::Exact; },
            [](Problem& p) { p.dtype = DType::Fp16; },
            [](Problem& p) { p.base2 = !p.base2; },
            [](Problem& p) { p.mask = MaskShape::Scores; },
            [](Problem& p) { p.br = 7; },
            [](Problem& p) { p.d = 5; },
            [](Problem& p) { p.dv = 1000; },
            [](Problem& p) { p.br = p.bc = 4096; },
            [](Problem& p) { p.n = p.nk = kMaxRows, p.d = p.dv = 128; },
            [](Problem& p) { p.n = p.nk = kMaxRows, p.heads = p.kv_heads = kMaxHeads; },
        };
        for (const gpu::KernelInfo& kernel : gpu::kernels()) {
            Problem fits = problem_for(kernel, {});
            if (!kernel.head_dims.empty()) fits.d = fits.dv = kernel.head_dims.front();
            for (const auto& change : changes) {
                Problem problem = fits;
                change(problem);
                read_error(reader, [&] { gpu::check_runnable(kernel, problem); });
            }
            for (const int capability : {50, 75, 80, 90})
                for (const int code : {0, 75, 80})
                    read_error(reader, [&] {
                        gpu::check_device(kernel, DType::Bf16,
                                          {.built = true, .available = true, .capability = capability, .code = code});
                    });
        }
        reader.read(gpu::device_status().message);
    });
}

TEST_CASE("what is wrong with a file of a matrix is said in the language of the app") {
    in_both([](Screen&, Reader& reader) {
        const auto npy = [](std::string_view header, std::string_view data = {}) {
            std::string bytes("\x93NUMPY\x01\x00", 8);
            bytes += static_cast<char>(header.size());
            bytes += '\0';
            return bytes.append(header).append(data);
        };
        for (const std::string& bytes :
             {std::string("P5"),
              std::string("\x93NUMPY\x01"),
              std::string("\x93NUMPY\x07\0\x01\0", 10),
              std::string("\x93NUMPY\x02\0\x01\0", 10),
              std::string("\x93NUMPY\x01\0\x09\0", 10),
              npy(""),
              npy("{"),
              npy("{1: 2}"),
              npy("{'a': 2}"),
              npy("{'descr': '"),
              npy("{'descr': '<c8'}"),
              npy("{'descr': [('a'"),
              npy("{'fortran_order': 1}"),
              npy("{'shape': (a)}"),
              npy("{'shape': (9999999999999999999)}"),
              npy("{'shape': (1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}"),
              npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)} x"),
              npy("{'descr': '<f4', 'fortran_order': False}"),
              npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}", "1234"),
              npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "12345678"),
              npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999, 99999)}")})
            read_error(reader, [&] { io::parse_npy(bytes, "1"); });
        for (const char* text : {"", "1,2\n3", "1,,2", "1,2;3", "a1", "1e999", "# only"})
            read_error(reader, [&] { io::parse_csv(text, "1"); });
    });
}
