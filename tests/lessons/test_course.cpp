// The course as a whole: every text resolves, every place and link exists, every question is sound, and no number that
// a run could give is typed.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <set>

// g++ 12 with -fsanitize finds uninitialised members in its own <regex>.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <regex>

#include "lab/presets.h"
#include "lessons/evaluate.h"
#include "lessons/lessons.h"
#include "lessons/questions.h"
#include "tests/lessons/lesson_text.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

constexpr Language kBoth[] = {Language::English, Language::Chinese};

int step_of(Scenes& scenes, const Place& place) { return step_at(scenes.run(place.scene)->trace, place); }

// The latest step of the scene that the expression speaks of, -1 where it names no place in it.
int latest_step(const Expression& expression, Scenes& scenes, std::string_view scene) {
    int latest = -1;
    for (const Place& place : places_of(expression))
        if (place.scene == scene) latest = std::max(latest, step_of(scenes, place));
    return latest;
}

// What a text says that a run could give; empty: nothing.
std::string typed_number(const std::string& text) {
    const std::string bare = std::regex_replace(text, std::regex(R"(\{\{[^}]*\}\}|\]\([^)]*\))"), "");
    for (const char* pattern : {R"(\d\.\d+)", R"(\d+ ?([KMG]i?B|B|bytes?|字节|FLOPs?)\b)", R"(\d+ ?字节)",
                                R"([Ss]teps? \d+)", R"(第 ?\d+ ?步)", R"(\d+ ?步)"}) {
        std::smatch found;
        if (std::regex_search(bare, found, std::regex(pattern))) return found.str();
    }
    return {};
}

// The sentences of a text, cut behind . ? ! : and their Chinese forms, outside references and links.
std::vector<std::string> sentences_of(const std::string& text) {
    std::vector<std::string> sentences(1);
    int inside = 0;
    for (std::size_t k = 0; k < text.size(); ++k) {
        sentences.back() += text[k];
        if (text[k] == '{' || text[k] == '(') ++inside;
        if (text[k] == '}' || text[k] == ')') --inside;
        const std::string_view rest = std::string_view(text).substr(k);
        const bool latin = std::string_view(".?!:").find(text[k]) != std::string_view::npos && rest.size() > 1 &&
                           (rest[1] == ' ' || rest[1] == '\n');
        const bool chinese =
            sentences.back().ends_with("。") || sentences.back().ends_with("？") || sentences.back().ends_with("：");
        if (inside == 0 && (latin || chinese)) sentences.emplace_back();
    }
    return sentences;
}

Prose prose_of(const std::string& text, Language language) {
    Prose prose;
    prose.in(language) = {text, 1};
    return prose;
}

// Whether a link of a sentence leads to where the sentence is true: to one of the places that it quotes, or behind them
// all. Otherwise what it quotes too late.
std::string untrue_link(const std::string& sentence, const Lesson& lesson, Scenes& scenes) {
    const Prose prose = prose_of(sentence, Language::English);
    for (const LinkTarget& target : links_of(prose, Language::English)) {
        const Link link = parse_link(target.text);
        if (!link.place) continue;
        const int to = step_of(scenes, *link.place);
        bool quoted = false;
        int latest = -1;
        for (const Expression& reference : references_of(prose, Language::English, lesson)) {
            latest = std::max(latest, latest_step(reference, scenes, link.place->scene));
            for (const Place& place : places_of(reference))
                quoted |= place.scene == link.place->scene && step_of(scenes, place) == to;
        }
        if (!quoted && latest > to) return target.text;
    }
    return {};
}

// Every text of the lesson in a language with the beat that it belongs to (null: title and aim).
template <class Visit>
void each_text(const Lesson& lesson, Visit visit) {
    for (const Language language : kBoth)
        visit_prose(lesson, [&](const Prose& prose) {
            if (!prose.in(language).text.empty()) visit(prose, language);
        });
}

}  // namespace

TEST_CASE("the course has lessons, by number, each with an id of its own in a known part") {
    REQUIRE(!lessons().empty());
    std::set<std::string> ids;
    int number = 0;
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.folder);
        CHECK(lesson.number > number);
        number = lesson.number;
        CHECK(ids.insert(lesson.id).second);
        CHECK(lesson.part <= static_cast<int>(course_parts().size()));
        CHECK(!lesson.sources.empty());
        CHECK(find_lesson(lesson.id) == &lesson);
    }
    CHECK(find_lesson("no such lesson") == nullptr);
}

TEST_CASE("every text of every lesson resolves, in every language, all of them in a second") {
    const std::clock_t begin = std::clock();  // of this program's own work, whatever else the machine does
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        each_text(lesson, [&](const Prose& prose, Language language) {
            const std::string text = resolve(prose, language, scenes);
            CHECK(text.find("{{") == std::string::npos);
            CHECK(text.find("}}") == std::string::npos);
        });
    }
    CHECK(std::clock() - begin < CLOCKS_PER_SEC * FLASHSTEP_TIMES_SLOWER);
}

TEST_CASE("a lesson has 8 to 20 beats, three questions or more, and something to try") {
    for (const Lesson& lesson : lessons()) {
        CAPTURE(lesson.folder);
        CHECK(lesson.beats.size() >= 8);
        CHECK(lesson.beats.size() <= 20);
        CHECK(std::ranges::count_if(lesson.beats, [](const Beat& beat) { return beat.question.has_value(); }) >= 3);
        CHECK(std::ranges::count_if(lesson.beats, [](const Beat& beat) { return beat.try_it.has_value(); }) >= 1);
    }
}

TEST_CASE("every beat has its place in a scene, and what it lights and explains is there") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats) {
            INFO(lesson.file(Language::English) << ":" << beat.lines[0]);
            const std::shared_ptr<const Run> run = scenes.run(beat.at.scene);
            const int step = step_at(run->trace, beat.at);
            for (const std::string& name : beat.focus) {
                const int tile = run->trace.find(name, Space::Sram);
                CHECK_MESSAGE(
                    (run->trace.find(name, Space::Hbm) >= 0 || (tile >= 0 && run->trace.tile_at(tile, step) >= 0)),
                    name);
            }
            if (beat.explain) CHECK_NOTHROW(value_at(run->trace, *beat.explain, step));
        }
    }
}

TEST_CASE("a beat quotes no number that is not yet there at its place") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats)
            for (const Language language : kBoth)
                for (const Expression& reference : references_of(beat.text, language, lesson)) {
                    INFO(lesson.file(language) << ":" << reference.line << " " << reference.text);
                    CHECK(latest_step(reference, scenes, beat.at.scene) <= step_of(scenes, beat.at));
                }
    }
}

TEST_CASE("every question has one answer, which its scene gives and which is accepted") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats) {
            if (!beat.question) continue;
            const Question& q = *beat.question;
            INFO(lesson.file(Language::English) << ":" << q.lines[0]);
            switch (q.kind) {
                case QuestionKind::Value: {
                    const std::string right = number_text(evaluate(q.answer, scenes), q.answer.style, Within::Text);
                    CHECK(judge_value(q, right, scenes).answer == Answer::Right);
                    break;
                }
                case QuestionKind::Choice:
                case QuestionKind::Breaks:
                    CHECK(right_options(q, scenes).size() == 1);
                    break;
                case QuestionKind::Cell: {
                    const std::vector<CellName> right = right_cells(q, scenes);
                    REQUIRE(!right.empty());
                    CHECK(judge_cell(q, right.front(), scenes).answer == Answer::Right);
                    break;
                }
                case QuestionKind::Order: {
                    std::set<double> keys;
                    for (const Option& option : q.options) keys.insert(evaluate(option.key, scenes));
                    CHECK(keys.size() == q.options.size());
                    break;
                }
            }
        }
    }
}

TEST_CASE("every listed wrong answer is refused with the reply that it has") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats) {
            if (!beat.question) continue;
            const Question& q = *beat.question;
            INFO(lesson.file(Language::English) << ":" << q.lines[0]);
            if (q.kind == QuestionKind::Value)
                for (const WrongAnswer& wrong : q.wrong) {
                    const std::string typed =
                        number_text(evaluate(wrong.answer, scenes), wrong.answer.style, Within::Text);
                    CAPTURE(typed);
                    const Judgement judgement = judge_value(q, typed, scenes);
                    CHECK(judgement.answer == Answer::Wrong);
                    CHECK(judgement.reply == &wrong.reply);
                }
            if (q.kind == QuestionKind::Choice || q.kind == QuestionKind::Breaks)
                for (std::size_t k = 0; k < q.options.size(); ++k) {
                    const Judgement judgement = judge_option(q, k, scenes);
                    const Prose* expected = judgement.answer == Answer::Right ? &q.right : &q.options[k].reply;
                    CHECK(judgement.reply == expected);
                    CHECK(!expected->empty());
                }
            if (q.kind == QuestionKind::Cell)
                for (const WrongAnswer& wrong : q.wrong) CHECK(!wrong.reply.empty());
        }
    }
}

TEST_CASE("a question is asked before its answer is on the screen") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats) {
            if (!beat.question) continue;
            const Question& q = *beat.question;
            INFO(lesson.file(Language::English) << ":" << q.lines[0]);
            const int here = step_of(scenes, beat.at);
            if (q.kind == QuestionKind::Value && !places_of(q.answer).empty())
                CHECK(latest_step(q.answer, scenes, beat.at.scene) > here);
            if (q.kind == QuestionKind::Choice)
                for (const Option& option : q.options)
                    if (!places_of(option.when).empty()) CHECK(latest_step(option.when, scenes, beat.at.scene) > here);
            if (q.kind == QuestionKind::Breaks) CHECK(beat.at.scene != q.scene);
            if (q.kind == QuestionKind::Cell) CHECK(step_of(scenes, q.at) == here);  // it has to be clicked there
        }
    }
}

TEST_CASE("what is to be tried is not yet so, and can be done") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        for (const Beat& beat : lesson.beats) {
            if (!beat.try_it) continue;
            INFO(lesson.file(Language::English) << ":" << beat.try_it->lines[0]);
            CHECK(!holds(beat.try_it->goal, scenes));
            Recipe recipe = recipe_of(scenes.scene(beat.at.scene));
            for (const std::string& change : beat.try_it->solution) make_change(recipe, change);
            scenes.stand_in("main", std::make_shared<const Run>(make_run(recipe)));
            CHECK(holds(beat.try_it->goal, scenes));
            scenes.stand_in("main", nullptr);
        }
    }
}

TEST_CASE("every link leads somewhere, and to where its sentence is true") {
    for (const Lesson& lesson : lessons()) {
        Scenes scenes(lesson);
        each_text(lesson, [&](const Prose& prose, Language language) {
            for (const LinkTarget& target : links_of(prose, language)) {
                INFO(lesson.file(language) << ":" << target.line << " " << target.text);
                const Link link = parse_link(target.text);
                if (!link.lesson.empty()) CHECK(find_lesson(link.lesson));
                if (!link.preset.empty()) CHECK(find_preset(link.preset));
                if (link.place) {
                    const std::shared_ptr<const Run> run = scenes.run(link.place->scene);
                    const int step = step_at(run->trace, *link.place);
                    if (link.cell) CHECK_NOTHROW(value_at(run->trace, *link.cell, step));
                }
            }
            for (const std::string& sentence : sentences_of(prose.in(language).text))
                CHECK_MESSAGE(untrue_link(sentence, lesson, scenes) == "", sentence);
        });
    }
}

TEST_CASE("a link whose sentence speaks of later numbers is found") {
    const Lesson lesson = parsed(small_lesson());
    Scenes scenes(lesson);
    CHECK(untrue_link("At [line 8](line=8,i=1,j=2) l is {{l_i[2] @ line=9 i=1 j=2}}.", lesson, scenes) != "");
    CHECK(untrue_link("At [line 9](line=9,i=1,j=2) l is {{l_i[2] @ line=9 i=1 j=2}}.", lesson, scenes) == "");
    CHECK(untrue_link("From [here](line=9,i=1,j=1), {{l_i[2] @ line=9 i=1 j=1}}, to {{l_i[2] @ line=9 i=1 j=2}}.",
                      lesson, scenes) == "");
    CHECK(sentences_of("One. Two at {{O[1,1] | 2 digits}}? Three").size() == 3);
    CHECK(sentences_of("一。二（a, b）：三").size() == 3);
}

TEST_CASE("no text types a number that a run could give") {
    for (const Lesson& lesson : lessons())
        each_text(lesson, [&](const Prose& prose, Language language) {
            INFO(lesson.file(language) << ":" << prose.in(language).line);
            CHECK(typed_number(prose.in(language).text) == "");
        });
    for (const char* typed : {"l is 1.37.", "it moves 304 bytes", "共 304 字节", "at step 12", "第 12 步", "34 步",
                              "4 KiB of it", "192 FLOPs"})
        CHECK_MESSAGE(typed_number(typed) != "", typed);
    for (const char* fine : {"rows 1 and 2, $N = 4$", "l is {{l_i[2] @ line=9 i=1 j=1}} at [line 9](line=9,i=1,j=1)",
                             "{{bytes:all}} bytes", "{{bytes:all}} 字节", "{{steps}} steps", "Algorithm 1."})
        CHECK_MESSAGE(typed_number(fine) == "", fine);
}
