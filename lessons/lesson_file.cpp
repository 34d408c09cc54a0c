// Reading a lesson's file.
#include "lessons/lesson_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/faults.h"
#include "gpu/registry.h"
#include "lab/edit.h"
#include "lab/presets.h"
#include "lessons/keys.h"
#include "lessons/problem_keys.h"
#include "lessons/scenes.h"

namespace flashstep {
namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

// ---- The file cut into its parts.

struct Block {
    std::string_view kind;  // "beat", "ask", "try"
    std::string_view keys;  // inside the fence
    int line = 0;           // of the fence
    std::string prose;      // up to the next block
    int prose_line = 0;
};

struct CutSource {
    std::string_view front;
    std::vector<Block> blocks;
};

class Lines {
  public:
    explicit Lines(std::string_view text) : text_(text) {}
    bool next() {
        if (at_ >= text_.size()) return false;
        begin_ = at_;
        const std::size_t end = std::min(text_.find('\n', at_), text_.size());
        line_ = text_.substr(at_, end - at_);
        at_ = end + 1;
        ++number_;
        return true;
    }
    std::string_view line() const { return line_; }
    int number() const { return number_; }  // from 1
    std::size_t begin() const { return begin_; }

  private:
    std::string_view text_, line_;
    std::size_t at_ = 0, begin_ = 0;
    int number_ = 0;
};

bool is_blank(std::string_view line) { return trimmed(line).empty(); }
bool is_block(std::string_view info) { return info == "beat" || info == "ask" || info == "try"; }

// Adds a line to the prose of the last block; the line of its first word is kept.
void add_prose(std::vector<Block>& blocks, const Lines& lines, const Source& source) {
    if (blocks.empty()) {
        if (!is_blank(lines.line()))
            source.fail(lines.number(), "text before the first beat",
                        "Begin with a block: ```beat, at = \"start\", ```");
        return;
    }
    Block& block = blocks.back();
    if (block.prose.empty() && is_blank(lines.line())) return;
    if (block.prose.empty()) block.prose_line = lines.number();
    block.prose += lines.line();
    block.prose += '\n';
}

CutSource cut(std::string_view text, const Source& source) {
    CutSource cut;
    Lines lines(text);
    if (!lines.next() || lines.line() != "+++")
        source.fail(1, "the front matter is missing", "Begin the file with a line of +++, its keys, and +++ again");
    const std::size_t front = std::min(lines.begin() + 4, text.size());
    bool closed = false;
    while (!closed && lines.next()) closed = lines.line() == "+++";
    if (!closed) source.fail(1, "the front matter does not end", "End it with a line of +++");
    cut.front = text.substr(front, lines.begin() > front ? lines.begin() - front : 0);

    while (lines.next()) {
        const std::string_view info = lines.line().starts_with("```") ? trimmed(lines.line().substr(3)) : "";
        if (!lines.line().starts_with("```")) {
            add_prose(cut.blocks, lines, source);
            continue;
        }
        const int line = lines.number();
        const std::size_t begin = lines.begin() + lines.line().size() + 1;
        if (is_block(info))
            cut.blocks.push_back({info, {}, line, {}, 0});
        else
            add_prose(cut.blocks, lines, source);
        bool ended = false;
        while (!ended && lines.next()) {
            ended = trimmed(lines.line()) == "```";
            if (!is_block(info)) add_prose(cut.blocks, lines, source);
        }
        if (!ended) source.fail(line, fmt::format("the block {} does not end", info), "End it with a line of ```");
        if (is_block(info))
            cut.blocks.back().keys =
                text.substr(std::min(begin, text.size()), lines.begin() > begin ? lines.begin() - begin : 0);
    }
    return cut;
}

Prose prose_of(const Block& block, Language language) {
    Prose prose;
    std::string_view text = block.prose;
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    prose.in(language) = {std::string(text), block.prose_line};
    return prose;
}

// ---- Scenes.

constexpr std::array<std::string_view, 9> kReserved = {"bytes", "flops", "memory", "sram",  "problem",
                                                       "gpu",   "model", "kernel", "format"};

// A scene that names no preset starts from `main`, if there is one yet. `set` gives single cells of its inputs.
Scene scene_of(const std::string& name, Keys keys, const Scene* main) {
    const Source& source = keys.source();
    if (std::ranges::find(kReserved, name) != kReserved.end())
        source.fail(keys.line(), fmt::format("a scene cannot be called {}", name), "References use the word");
    Scene scene;
    scene.name = name;
    if (keys.has("preset") || !main) {
        const std::string preset = keys.text("preset");
        scene.preset = find_preset(preset);
        if (!scene.preset)
            source.fail(keys.line_of("preset"), fmt::format("there is no preset called {}", preset),
                        "See: flashstep list");
        scene.recipe.algorithm = scene.preset->algorithm;
        scene.recipe.kernel = scene.preset->kernel;
        scene.recipe.problem = scene.preset->problem;
    } else {
        scene.preset = main->preset;
        scene.recipe = main->recipe;
        scene.set = main->set;
    }
    Recipe& recipe = scene.recipe;
    if (keys.has("algorithm")) {
        const std::string id = keys.text("algorithm");
        const Algorithm* algorithm = find_algorithm(id);
        if (!algorithm)
            source.fail(keys.line_of("algorithm"), fmt::format("there is no algorithm called {}", id),
                        "See: flashstep list");
        recipe = with_algorithm(recipe, *algorithm);
    }
    recipe.kernel = keys.text_or("kernel", recipe.kernel);
    recipe.fault = keys.text_or("fault", recipe.fault);
    recipe.without_line = keys.count_or("without_line", recipe.without_line);
    take_problem(keys, recipe.problem);
    for (std::string& cell : keys.texts_or_none("set")) scene.set.push_back(std::move(cell));
    keys.finish();
    const gpu::KernelInfo* kernel = gpu::find_kernel(recipe.kernel);
    if (!recipe.kernel.empty() && (!kernel || kernel->algorithm != recipe.algorithm))
        source.fail(keys.line_of("kernel"), fmt::format("{} has no kernel called {}", recipe.algorithm, recipe.kernel),
                    "See: flashstep list");
    const Fault* fault = find_fault(recipe.fault);
    if (!recipe.fault.empty() && (!fault || fault->algorithm != recipe.algorithm))
        source.fail(keys.line_of("fault"), fmt::format("{} has no fault called {}", recipe.algorithm, recipe.fault),
                    "See: flashstep list");
    source.at(keys.line(), [&] { validate(recipe.problem); });
    if (!scene.set.empty()) source.at(keys.line_of("set"), [&] { recipe_of(scene); });
    return scene;
}

void take_scenes(Keys& front, Lesson& lesson) {
    auto tables = front.tables("scenes");
    const auto main = std::ranges::find(tables, "main", [](const auto& entry) { return entry.first; });
    if (main == tables.end()) front.source().fail(front.line(), "there is no scene called main", "Add [scenes.main]");
    lesson.scenes.push_back(scene_of("main", main->second, nullptr));
    const Scene first = lesson.scenes.front();
    for (auto& [name, keys] : tables)
        if (name != "main") lesson.scenes.push_back(scene_of(name, keys, &first));
}

// ---- Blocks.

Place known_place(Keys& keys, const Lesson& lesson) {
    const Place place = keys.place("at");
    if (!lesson.find_scene(place.scene))
        keys.source().fail(keys.line_of("at"), fmt::format("the lesson has no scene called {}", place.scene),
                           "Scenes stand in the front matter");
    return place;
}

Beat beat_of(Keys keys, const Block& block, const Lesson& lesson) {
    const Source& source = keys.source();
    Beat beat;
    beat.lines[static_cast<int>(source.language)] = block.line;
    beat.at = known_place(keys, lesson);
    beat.focus = keys.texts_or_none("focus");
    if (keys.has("explain")) {
        const std::string cell = keys.text("explain");
        beat.explain = source.at(keys.line_of("explain"), [&] { return parse_cell(cell); });
    }
    beat.panels = keys.texts_or_none("panels");
    keys.finish();
    beat.text = prose_of(block, source.language);
    if (beat.text.in(source.language).text.empty())
        source.fail(block.line, "a beat without a text", "Write one to three sentences after it");
    return beat;
}

struct KindName {
    std::string_view name;
    QuestionKind kind;
};
constexpr std::array kKinds = {KindName{"value", QuestionKind::Value}, KindName{"choice", QuestionKind::Choice},
                               KindName{"cell", QuestionKind::Cell}, KindName{"order", QuestionKind::Order},
                               KindName{"breaks", QuestionKind::Breaks}};

Option option_of(Keys keys, QuestionKind kind, const Lesson& lesson) {
    Option option;
    option.text = keys.prose("text");
    if (kind == QuestionKind::Choice) option.when = keys.expression("when");
    if (kind == QuestionKind::Breaks) option.at = known_place(keys, lesson);
    if (kind == QuestionKind::Order) option.key = keys.expression("key");
    if (kind != QuestionKind::Order) option.reply = keys.prose_or_none("reply");
    keys.finish();
    return option;
}

WrongAnswer wrong_of(Keys keys, QuestionKind kind) {
    WrongAnswer wrong;
    wrong.answer = keys.expression(kind == QuestionKind::Value ? "answer" : "when");
    wrong.reply = keys.prose("reply");
    keys.finish();
    return wrong;
}

Question question_of(Keys keys, const Block& block, const Lesson& lesson) {
    const Source& source = keys.source();
    Question question;
    question.lines[static_cast<int>(source.language)] = block.line;
    const std::string kind = keys.text("kind");
    const auto found = std::ranges::find(kKinds, kind, &KindName::name);
    if (found == kKinds.end())
        source.fail(keys.line_of("kind"), fmt::format("there is no kind of question called {}", kind),
                    "Kinds are value, choice, cell, order and breaks");
    question.kind = found->kind;
    question.right = keys.prose("right");
    const auto take_options = [&](std::string_view key) {
        for (Keys& option : keys.elements(key)) question.options.push_back(option_of(option, question.kind, lesson));
        if (question.options.size() < 2)
            source.fail(block.line, fmt::format("a question of the kind {} needs two of [[{}]] or more", kind, key));
    };
    const auto take_wrong = [&] {
        for (Keys& wrong : keys.elements("wrong")) question.wrong.push_back(wrong_of(wrong, question.kind));
    };
    switch (question.kind) {
        case QuestionKind::Value:
            question.answer = keys.expression("answer");
            take_wrong();
            break;
        case QuestionKind::Choice:
            take_options("option");
            break;
        case QuestionKind::Cell:
            question.tensor = keys.text("tensor");
            question.at = known_place(keys, lesson);
            question.scene = question.at.scene;
            question.answer = placed(keys.expression("when"), question.at);
            take_wrong();
            for (WrongAnswer& wrong : question.wrong) wrong.answer = placed(wrong.answer, question.at);
            break;
        case QuestionKind::Order:
            take_options("item");
            break;
        case QuestionKind::Breaks: {
            question.scene = keys.text("scene");
            const Scene* scene = lesson.find_scene(question.scene);
            if (!scene || scene->recipe.fault.empty())
                source.fail(keys.line_of("scene"), fmt::format("{} is no scene with a fault", question.scene),
                            "Name one of the front matter that has a fault = ...");
            take_options("option");
            break;
        }
    }
    keys.finish();
    if (!block.prose.empty())
        source.fail(block.prose_line, "text after a question", "The text of a beat stands before its question");
    return question;
}

TryIt try_of(Keys keys, const Block& block) {
    const Source& source = keys.source();
    TryIt try_it;
    try_it.lines[static_cast<int>(source.language)] = block.line;
    try_it.goal = keys.expression("goal");
    try_it.solution = keys.texts("solution");
    try_it.done = keys.prose("done");
    keys.finish();
    if (!block.prose.empty())
        source.fail(block.prose_line, "text after something to try", "The text of a beat stands before it");
    return try_it;
}

void take_folder(std::string_view folder, Lesson& lesson, const Source& source) {
    const std::size_t line = folder.find('_');
    const auto digits = folder.substr(0, line);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), lesson.number);
    if (line == std::string_view::npos || digits.size() != 2 || error != std::errc{} ||
        end != digits.data() + digits.size() || line + 1 == folder.size())
        source.fail(1, fmt::format("{} is no name of a lesson's folder", folder),
                    "It is two digits and an id: 06_fa2_forward");
    lesson.folder = folder;
    lesson.id = folder.substr(line + 1);
}

}  // namespace

Lesson parse_lesson(const LessonFile& file) {
    Lesson lesson;
    lesson.folder = file.folder;
    const Source source{{lesson.file(file.language)}, file.language};
    take_folder(file.folder, lesson, source);
    std::string text(file.text);
    std::erase(text, '\r');  // of lines that end as on Windows
    const CutSource parts = cut(text, source);

    const std::vector<TomlSection> front_sections = parse_toml(parts.front, 2, source);
    Keys front(front_sections, source, "the front matter");
    lesson.title = front.prose("title"), lesson.aim = front.prose("aim");
    lesson.part = static_cast<int>(front.whole("part", 1, 7));
    lesson.sources = front.texts("sources");
    take_scenes(front, lesson);
    front.finish();

    for (const Block& block : parts.blocks) {
        const std::vector<TomlSection> sections = parse_toml(block.keys, block.line + 1, source);
        Keys keys(sections, source, fmt::format("the block {}", block.kind));
        if (block.kind == "beat") {
            lesson.beats.push_back(beat_of(keys, block, lesson));
            continue;
        }
        if (lesson.beats.empty()) source.fail(block.line, "a question before the first beat");
        Beat& beat = lesson.beats.back();
        if (beat.question || beat.try_it)
            source.fail(block.line, "a second question in one beat", "Begin a beat of its own for it");
        if (block.kind == "ask")
            beat.question = question_of(keys, block, lesson);
        else
            beat.try_it = try_of(keys, block);
    }
    if (lesson.beats.empty()) source.fail(1, "the lesson has no beat", "Add a block: ```beat, at = \"start\", ```");
    return lesson;
}

}  // namespace flashstep
