// Lessons' files: what is read from them, and that a bad one is an error with its file and line, never a crash.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "lab/presets.h"
#include "lessons/evaluate.h"
#include "lessons/lessons.h"
#include "tests/lessons/lesson_text.h"
#include "tests/program.h"

using namespace flashstep;
using namespace flashstep::testing;

TEST_CASE("a lesson's file gives its scenes, beats, questions and what to try") {
    const Lesson lesson = parsed(small_lesson());
    CHECK(lesson.id == "small");
    CHECK(lesson.number == 6);
    CHECK(lesson.part == 3);
    CHECK(lesson.title.in(Language::English).text == "A title");
    CHECK(lesson.sources == std::vector<std::string>{"A paper"});
    REQUIRE(lesson.scenes.size() == 2);
    CHECK(lesson.scenes[0].name == "main");
    CHECK(lesson.scenes[1].recipe.fault == "no-rescale");
    CHECK(lesson.scenes[1].recipe.kernel == find_preset("n4d3")->kernel);
    REQUIRE(lesson.beats.size() == 2);
    const Beat& beat = lesson.beats[0];
    CHECK(place_text(beat.at) == "line=8 i=1 j=2");
    CHECK(beat.lines[0] == 14);
    CHECK(beat.focus == std::vector<std::string>{"S_ij"});
    CHECK(beat.explain == CellName{"S_ij", 1, 0});
    CHECK(beat.text.in(Language::English).line == 20);
    REQUIRE(beat.question);
    CHECK(beat.question->kind == QuestionKind::Value);
    CHECK(beat.question->wrong.size() == 1);
    CHECK(lesson.beats[1].at.scene == "wrong");
    REQUIRE(lesson.beats[1].try_it);
    CHECK(lesson.beats[1].try_it->solution == std::vector<std::string>{"K[3,1] = 2"});
}

TEST_CASE("a scene starts from its preset, or from main, and its keys change it as on the command line") {
    const auto scene = [](const std::string& keys) {
        const Lesson lesson = parsed(replaced(small_lesson(), "fault = \"no-rescale\"", keys));
        return *lesson.find_scene("wrong");
    };
    const Scene larger = scene("n = 64\nd = 16\nbr = 8\ncausal = true\ndtype = \"fp16\"\nheads = 4");
    const std::string first_kernel = larger.recipe.kernel;
    CHECK(larger.recipe.algorithm == "fa2_forward");
    const Problem& p = larger.recipe.problem;
    CHECK(p.nk == 64);
    CHECK(p.dv == 16);
    CHECK(p.scale == 0.25);
    CHECK(p.br == 8);
    CHECK(p.bc == 2);
    CHECK(p.causal);
    CHECK(p.kv_heads == 4);
    CHECK(p.dtype == DType::Fp16);
    CHECK(recipe_of(larger).inputs.Q.size() == 4);
    const Scene other = scene("algorithm = \"fa1_forward\"");
    CHECK(other.recipe.fault.empty());
    CHECK(other.recipe.kernel != first_kernel);
    CHECK(other.recipe.problem == find_preset("n4d3")->problem);
    const Scene backward = scene("preset = \"n4d3_backward\"\nkernel = \"\"");
    CHECK(backward.recipe.algorithm == "fa2_backward");
    CHECK(backward.recipe.kernel.empty());
}

TEST_CASE("a scene sets single cells of its inputs, and what starts from main sets main's too") {
    std::string text = replaced(small_lesson(), "preset = \"n4d3\"", "preset = \"n4d3\"\nset = [\"Q[1,1] = 7\"]");
    text = replaced(text, "fault = \"no-rescale\"", "set = [\"K[4,3] = -2.5\"]\n\n[scenes.other]\npreset = \"n4d3\"");
    text = replaced(text, "scene=wrong line=10", "scene=wrong line=9");
    const Lesson lesson = parsed(text);
    const Inputs given = recipe_of(*find_preset("n4d3")).inputs;
    const Inputs wrong = recipe_of(*lesson.find_scene("wrong")).inputs;
    CHECK(recipe_of(lesson.scenes[0]).inputs.Q[0](0, 0) == 7);
    CHECK(recipe_of(lesson.scenes[0]).inputs.K[0] == given.K[0]);
    CHECK(wrong.Q[0](0, 0) == 7);
    CHECK(wrong.K[0](3, 2) == -2.5);
    CHECK(recipe_of(*lesson.find_scene("other")).inputs.Q[0] == given.Q[0]);
    const Lesson without = parsed(replaced(text, "set = [\"K[4,3] = -2.5\"]\n", ""), Language::Chinese);
    CHECK(error_of([&] { join_languages(lesson, without); }).find("set Q[1,1] = 7; K[4,3] = -2.5") != std::string::npos);
}

TEST_CASE("what is wrong with a file is said with its line and what to do") {
    struct Row {
        const char *what, *with, *says;
    };
    for (const Row& row : {
             Row{"+++\n", "", "en.md:1: the front matter is missing"},
             Row{"+++\n\n```beat", "\n\n```beat", "en.md:1: the front matter does not end"},
             Row{"part = 3", "part = 3 4", "en.md:4: "},
             Row{"part = 3", "part = 12", "en.md:4: part is not a whole number from 1 to 7"},
             Row{"part = 3\n", "", "the front matter needs part"},
             Row{"part = 3", "part = 3\nparts = 4", "en.md:5: the front matter knows no parts"},
             Row{"sources = [\"A paper\"]", "sources = 3", "en.md:5: sources is not a list of texts"},
             Row{"sources = [\"A paper\"]", "sources = [3]", "en.md:5: a list of something else than texts"},
             Row{"[scenes.main]", "[scenes.first]", "there is no scene called main"},
             Row{"\"n4d3\"", "\"n5d3\"", "en.md:8: there is no preset called n5d3"},
             Row{"preset = \"n4d3\"", "preset = \"n4d3\"\nalgorithm = \"fa3\"", "en.md:9: there is no algorithm"},
             Row{"preset = \"n4d3\"", "preset = \"n4d3\"\nkernel = \"fa2_backward_1_tile\"",
                 "en.md:9: fa2_forward has"},
             Row{"preset = \"n4d3\"", "preset = \"n4d3\"\nbr = 0", "en.md:9: br is not"},
             Row{"preset = \"n4d3\"", "preset = \"n4d3\"\ndtype = \"fp8\"", "en.md:9: dtype is not exact, fp32"},
             Row{"preset = \"n4d3\"", "preset = \"n4d3\"\nheads = 3\nkv_heads = 2", "small/en.md:7: "},
             Row{"[scenes.wrong]", "[=wrong]", "en.md:10: the name of a table is missing"},
             Row{"[[wrong]]", "[[", "en.md:27: the name of a table is missing"},
             Row{"[scenes.wrong]", "[scene.wrong]", "en.md:10: the front matter knows no [scene.wrong]"},
             Row{"no-rescale", "no-d", "en.md:11: fa2_forward has no fault called no-d"},
             Row{"[scenes.wrong]", "[scenes.bytes]", "en.md:10: a scene cannot be called bytes"},
             Row{"[scenes.wrong]", "[scenes.format]", "en.md:10: a scene cannot be called format"},
             Row{"fault = \"no-rescale\"", "set = [\"K[9,1] = 2\"]", "en.md:11: 'K[9,1] = 2' names no cell of an input"},
             Row{"fault = \"no-rescale\"", "set = \"K[1,1] = 2\"", "en.md:11: set is not a list of texts"},
             Row{"+++\n\n```beat", "+++\nWords.\n\n```beat", "en.md:13: text before the first beat"},
             Row{"at = \"line=8 i=1 j=2\"\n", "", "en.md:15: the block beat needs at"},
             Row{"at = \"line=8 i=1 j=2\"", "at = \"row=8\"", "en.md:15: 'row=8' in 'row=8' is no part of a place"},
             Row{"at = \"line=8 i=1 j=2\"", "at = 8", "en.md:15: at is not a text in quotes"},
             Row{"scene=wrong", "scene=rong", "the lesson has no scene called rong"},
             Row{"focus", "fokus", "en.md:16: the block beat knows no fokus"},
             Row{"\"S_ij[2,1]\"", "\"S_ij\"", "en.md:17: 'S_ij' is no cell"},
             Row{"Row 2 scores {{S_ij[2,1] @ line=8 i=1 j=2}}, see [line 8](line=8,i=1,j=2).\n", "",
                 "en.md:14: a beat without a text"},
             Row{"kind = \"value\"", "kind = \"guess\"", "en.md:23: there is no kind of question called guess"},
             Row{"kind = \"value\"", "kind = \"choice\"", "needs two of [[option]] or more"},
             Row{"kind = \"value\"", "kind = \"breaks\"\nscene = \"main\"", "en.md:24: main is no scene with a fault"},
             Row{"@ line=9 i=1 j=2\"", "@ here\"", "en.md:24: a place is missing, such as line=9 i=1 j=2, at 'here'"},
             Row{"one tile ago.'\n```\n", "one tile ago.'\n```\n\nMore.\n", "text after a question"},
             Row{"```ask", "```ask\nnote = 1", "the block ask knows no note"},
             Row{"done = 'Done.'\n```", "done = 'Done.'", "does not end"},
             Row{"solution = [\"K[3,1] = 2\"]\n", "", "the block try needs solution"},
         }) {
        const std::string text = replaced(small_lesson(), row.what, row.with);
        const std::string error = error_of([&] { parsed(text); });
        CAPTURE(row.with);
        CHECK_MESSAGE(error.find(row.says) != std::string::npos, error);
        CHECK_MESSAGE(error.starts_with("lessons/06_small/en.md:"), error);
    }
    CHECK(error_of([] {
              parse_lesson({"6_small", Language::English, small_lesson()});
          }).find("no name of a lesson's") != std::string::npos);
}

TEST_CASE("a question belongs to one beat, and a beat has one") {
    const std::string block = "```try\ngoal = \"1 = 1\"\nsolution = []\ndone = 'Done.'\n```\n";
    CHECK(error_of([&] { parsed(small_lesson() + block); }).find("a second question in one beat") != std::string::npos);
    CHECK(error_of([&] {
              parsed(replaced(small_lesson(), "```beat\nat = \"line", block + "```beat\nat = \"line"));
          }).find("a question before the first beat") != std::string::npos);
}

TEST_CASE("code in a lesson stays in its text, with what looks like a block's end") {
    const Lesson lesson = parsed(replaced(small_lesson(), "Here ", "```cuda\nfor (;;)\n```\n\nHere "));
    CHECK(lesson.beats[1].text.in(Language::English).text.starts_with("```cuda\nfor (;;)\n```\n\nHere "));
}

TEST_CASE("a text over several lines may begin one of them with a bracket") {
    const std::string begun = replaced(small_lesson(), "right = 'It is", "right = '''It is\n[(a)](start)");
    const Lesson lesson = parsed(replaced(begun, "j=2}}.'", "j=2}}.'''"));
    CHECK(lesson.beats[0].question->right.in(Language::English).text.starts_with("It is\n[(a)](start)"));
}

TEST_CASE("lines that end as on Windows are read alike") {
    std::string text;
    for (const char c : small_lesson()) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const Lesson lesson = parsed(text);
    REQUIRE(lesson.beats.size() == 2);
    CHECK(lesson.beats[0].text.in(Language::English).text ==
          parsed(small_lesson()).beats[0].text.in(Language::English).text);
}

TEST_CASE("a damaged file is an error that names it, or still a lesson; it never crashes") {
    const std::string good(lesson_files()[0].text);
    std::mt19937 random(7);
    const auto any = [&](std::size_t end) { return std::uniform_int_distribution<std::size_t>(0, end - 1)(random); };
    int refused = 0, kept = 0;
    for (int round = 0; round < 400; ++round) {
        std::string text = good;
        for (std::size_t edits = 1 + any(4); edits > 0; --edits) {
            const std::size_t at = any(text.size()), length = std::min(text.size() - at, 1 + any(40));
            switch (any(4)) {
                case 0:
                    text.erase(at, length);
                    break;
                case 1:
                    text[at] = static_cast<char>(any(256));
                    break;
                case 2:
                    text.insert(at, text.substr(any(text.size()), length));
                    break;
                default:
                    text.insert(at, std::string(1 + any(3), "`[]{}\"'+=\n\0|@:"[any(14)]));
            }
        }
        try {
            Lesson lesson = parse_lesson({"06_small", Language::English, text});
            Scenes scenes(lesson);
            visit_prose(lesson, [&](const Prose& prose) { resolve(prose, Language::English, scenes); });
            ++kept;
        } catch (const Error& error) {
            CHECK_MESSAGE(std::string_view(error.what()).starts_with("lessons/06_small/en.md:"), error.what());
            ++refused;
        }
    }
    CHECK(refused > 50);
    CHECK(kept > 50);
}

TEST_CASE("brackets without end and references without measure are errors, not a full stack") {
    for (const std::string& reference :
         {std::string(3000, '('), std::string(390, '('), std::string(390, '-'), "1" + std::string(5000, '+') + "1"})
        CHECK_THROWS_AS(parse_expression(reference), Error);
    CHECK_THROWS_AS(parsed(replaced(small_lesson(), "part = 3", "part = " + std::string(100000, '['))), Error);
}

TEST_CASE("the languages of a lesson may differ in their words alone") {
    const Lesson english = parsed(small_lesson());
    const auto difference = [&](const std::string& what, const std::string& with) {
        const std::string chinese = replaced(small_lesson(), what, with);
        return error_of([&] { join_languages(english, parsed(chinese, Language::Chinese)); });
    };
    CHECK(difference("Row 2 scores", "第 2 行的分数是") == "");
    const Lesson both =
        join_languages(english, parsed(replaced(small_lesson(), "Row 2 scores", "第 2 行的分数是"), Language::Chinese));
    CHECK(both.beats[0].text.in(Language::Chinese).text.starts_with("第 2 行的分数是"));
    CHECK(both.beats[0].text.in(Language::English).text.starts_with("Row 2 scores"));
    CHECK(both.beats[0].question->lines[1] == 22);

    CHECK(difference("S_ij[2,1] @", "S_ij[2,2] @").find("zh.md:20 has the beat with the references") !=
          std::string::npos);
    CHECK(difference("(line=8,i=1,j=2)", "(line=9,i=1,j=2)").find("zh.md:20 has") != std::string::npos);
    CHECK(difference("at = \"line=8 i=1 j=2\"", "at = \"line=9 i=1 j=2\"").find("zh.md:14 has a beat at line=9") !=
          std::string::npos);
    CHECK(difference("explain = \"S_ij[2,1]\"\n", "").find("explain nothing") != std::string::npos);
    CHECK(difference("no-rescale", "literal-inverse").find("fault literal-inverse") != std::string::npos);
    CHECK(difference("answer = \"l_i[2] @ line=9 i=1 j=1\"", "answer = \"l_i[1] @ line=9 i=1 j=1\"")
              .find("a wrong answer l_i[1]") != std::string::npos);
    CHECK(difference("K[3,1] = 2", "K[3,1] = 3").find("solved by K[3,1] = 3") != std::string::npos);
    CHECK(difference("It is {{l_i[2] @ line=9 i=1 j=2}}.", "It is so.").find("said with the right answer") !=
          std::string::npos);
    const std::string shorter = small_lesson().substr(0, small_lesson().find("```try"));
    CHECK(error_of([&] { join_languages(english, parsed(shorter, Language::Chinese)); }).find("zh.md ends") !=
          std::string::npos);
}

TEST_CASE("the embedding takes every lesson's two files in order and refuses a folder that is none") {
    const TemporaryFolder folder;
    const std::string list = folder.file("list.txt"), out = folder.file("out.cpp"), log = folder.file("log.txt");
    const auto add = [&](const std::string& name, const std::string& language, const std::string& text) {
        std::filesystem::create_directories(folder.file(name));
        std::ofstream(folder.file(name + "/" + language + ".md"), std::ios::binary) << text;
        return folder.file(name + "/en.md") + "\n";
    };
    const auto embed = [&] {
        return std::system(("cmake '-DOUTPUT=" + out + "' '-DLIST=" + list + "' -P " + FLASHSTEP_SOURCE_DIR +
                            "/cmake/embed_lessons.cmake > " + log + " 2>&1")
                               .c_str());
    };
    const auto said = [&] {  // CMake breaks its messages into lines
        std::istringstream text(text_of(log));
        std::string words;
        for (std::string word; text >> word;) words += (words.empty() ? "" : " ") + word;
        return words;
    };
    const std::string first = add("01_a", "en", "x;[\n\"$@"), second = add("02_b", "en", "y");
    add("01_a", "zh", "中"), add("02_b", "zh", "");
    std::ofstream(list) << first << second;
    REQUIRE(embed() == 0);
    const std::string written = text_of(out);
    CHECK(written.find(R"(kText0[] = "\x78\x3b\x5b\x0a\x22\x24\x40")") != std::string::npos);
    CHECK(written.find(R"(kText1[] = "\xe4\xb8\xad")") != std::string::npos);
    CHECK(written.find(R"(LessonFile{"01_a", Language::English, {kText0)") <
          written.find(R"(LessonFile{"02_b", Language::Chinese, {kText3)"));
    std::filesystem::remove(folder.file("02_b/zh.md"));
    CHECK(embed() != 0);
    CHECK(said().find("zh.md: missing") != std::string::npos);
    std::ofstream(list) << add("lesson_c", "en", "z");
    CHECK(embed() != 0);
    CHECK(said().find("two digits and an id") != std::string::npos);
}
