// Questions: what is right comes from the scenes, and wrong answers get their replies.
#include <doctest/doctest.h>

#include "lessons/evaluate.h"
#include "lessons/questions.h"
#include "tests/lessons/lesson_text.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

// The small lesson with another question in its first beat.
Lesson asking(const std::string& block) {
    const std::string text = small_lesson();
    const std::size_t from = text.find("kind = "), to = text.find("```", from);
    return parsed(text.substr(0, from) + block + text.substr(to));
}

std::string reply_of(const Judgement& judgement) {
    return judgement.reply ? judgement.reply->in(Language::English).text : "";
}

}  // namespace

TEST_CASE("a typed number is right if the value rounds to it, with two digits or all there are") {
    const Lesson lesson = parsed(small_lesson());
    Scenes scenes(lesson);
    const Question& question = *lesson.beats[0].question;  // 1.63855...
    const auto answer = [&](const char* typed) { return judge_value(question, typed, scenes).answer; };
    for (const char* right : {"1.64", "1.6", "1.639", " 1.6386 ", "+1.64", "1.64e0", "164e-2", "１.６４", "1．64"}) {
        CAPTURE(right);
        CHECK(answer(right) == Answer::Right);
    }
    for (const char* wrong : {"1.63", "1.7", "1.640", "-1.64", "−1.64", "inf", "nan", "0"}) {
        CAPTURE(wrong);
        CHECK(answer(wrong) == Answer::Wrong);
    }
    CHECK(answer("2") == Answer::TooRough);
    for (const char* no_number : {"", "one", "1.6.4", "1,64", "1.64x", "l_i[2]"}) {
        CAPTURE(no_number);
        CHECK(answer(no_number) == Answer::Unreadable);
    }
    CHECK(reply_of(judge_value(question, "1.37", scenes)) == "That is one tile ago.");
    CHECK(reply_of(judge_value(question, "1.64", scenes)) == "It is {{l_i[2] @ line=9 i=1 j=2}}.");
    CHECK(reply_of(judge_value(question, "5", scenes)) == "");
}

TEST_CASE("infinity, zero and whole numbers are answers in as few digits as they have") {
    const auto answer = [](const std::string& expression, const char* typed) {
        const Lesson lesson = asking("kind = \"value\"\nanswer = \"" + expression + "\"\nright = 'Yes.'\n");
        Scenes scenes(lesson);
        return judge_value(*lesson.beats[0].question, typed, scenes).answer;
    };
    CHECK(answer("m_i[1] @ line=5 i=1", "−∞") == Answer::Right);
    CHECK(answer("m_i[1] @ line=5 i=1", "-inf") == Answer::Right);
    CHECK(answer("m_i[1] @ line=5 i=1", "-1e9") == Answer::Wrong);
    CHECK(answer("l_i[1] @ line=5 i=1", "0") == Answer::Right);
    CHECK(answer("m_i[1] @ line=9 i=1 j=2", "2") == Answer::Right);
    CHECK(answer("bytes:K.read", "96") == Answer::Right);
    CHECK(answer("bytes:K.read", "1e2") == Answer::TooRough);
    CHECK(answer("bytes:K.read", "97") == Answer::Wrong);
    CHECK(answer("bytes:K.read * 1000", "96,000") == Answer::Right);
    CHECK(answer("bytes:K.read * 1000", "96,00") == Answer::Unreadable);
}

TEST_CASE("a wrong answer of one digit that would round to the right one has its reply") {
    const Lesson lesson = asking(
        "kind = \"value\"\nanswer = \"0 - 1 / 16\"\nright = 'Yes.'\n\n[[wrong]]\nanswer = \"0\"\nreply = 'It does "
        "move.'\n");
    Scenes scenes(lesson);
    const Question& question = *lesson.beats[0].question;
    CHECK(judge_value(question, "0", scenes).answer == Answer::Wrong);
    CHECK(reply_of(judge_value(question, "0", scenes)) == "It does move.");
    CHECK(judge_value(question, "-0.1", scenes).answer == Answer::TooRough);
    CHECK(judge_value(question, "-0.06", scenes).answer == Answer::TooRough);
    CHECK(judge_value(question, "-0.063", scenes).answer == Answer::Right);
}

TEST_CASE("the right option is the one whose condition holds in the scene") {
    const Lesson lesson = asking(R"(kind = "choice"
right = 'Row 2 rises.'
[[option]]
text = "row 1"
when = "S_ij[1,1] @ line=8 i=1 j=2 > m_i[1] @ line=8 i=1 j=2"
reply = 'It stays.'
[[option]]
text = "row 2"
when = "S_ij[2,1] @ line=8 i=1 j=2 > m_i[2] @ line=8 i=1 j=2"
)");
    Scenes scenes(lesson);
    const Question& question = *lesson.beats[0].question;
    CHECK(right_options(question, scenes) == std::vector<std::size_t>{1});
    CHECK(judge_option(question, 1, scenes).answer == Answer::Right);
    CHECK(judge_option(question, 0, scenes).answer == Answer::Wrong);
    CHECK(reply_of(judge_option(question, 0, scenes)) == "It stays.");
    CHECK(judge_option(question, 9, scenes).answer == Answer::Unreadable);
}

TEST_CASE("the right cells are those for which the condition holds") {
    const Lesson lesson = asking(R"(kind = "cell"
tensor = "S_ij"
at = "line=8 i=1 j=2"
when = "S_ij[row,col] > m_i[row]"
right = 'Yes.'
[[wrong]]
when = "row = 1 and col = 1"
reply = 'Not this row.'
)");
    Scenes scenes(lesson);
    const Question& question = *lesson.beats[0].question;
    CHECK(right_cells(question, scenes) == std::vector<CellName>{{"S_ij", 1, 0}});
    CHECK(judge_cell(question, {"S_ij", 1, 0}, scenes).answer == Answer::Right);
    CHECK(judge_cell(question, {"S_ij", 1, 1}, scenes).answer == Answer::Wrong);
    CHECK(reply_of(judge_cell(question, {"S_ij", 0, 0}, scenes)) == "Not this row.");
    CHECK(reply_of(judge_cell(question, {"S_ij", 0, 1}, scenes)) == "");
    CHECK(judge_cell(question, {"P_ij", 1, 0}, scenes).answer == Answer::Wrong);
}

TEST_CASE("where a mistake shows first is where the scene's run departs from the right one") {
    const Lesson lesson = asking(R"(kind = "breaks"
scene = "wrong"
right = 'Yes.'
[[option]]
text = "tile 1"
at = "scene=wrong line=10 i=1 j=1"
[[option]]
text = "tile 2"
at = "scene=wrong line=10 i=1 j=2"
)");
    Scenes scenes(lesson);
    CHECK(right_options(*lesson.beats[0].question, scenes) == std::vector<std::size_t>{1});
}

TEST_CASE("an order is right if it is that of the keys") {
    const Lesson lesson = asking(R"toml(kind = "order"
right = 'Yes.'
[[item]]
text = "O"
key = "step(line=10 i=1 j=1)"
[[item]]
text = "S"
key = "step(line=8 i=1 j=1)"
[[item]]
text = "K, V"
key = "step(line=7 i=1 j=1)"
)toml");
    Scenes scenes(lesson);
    const Question& question = *lesson.beats[0].question;
    CHECK(right_order(question, scenes) == std::vector<std::size_t>{2, 1, 0});
    CHECK(judge_order(question, std::vector<std::size_t>{2, 1, 0}, scenes).answer == Answer::Right);
    CHECK(judge_order(question, std::vector<std::size_t>{0, 1, 2}, scenes).answer == Answer::Wrong);
    CHECK(judge_order(question, std::vector<std::size_t>{2, 1}, scenes).answer == Answer::Wrong);
}

TEST_CASE("the goal of an experiment is judged on the run that is shown") {
    const Lesson lesson = parsed(small_lesson());
    Scenes scenes(lesson);
    const TryIt& try_it = *lesson.beats[1].try_it;
    CHECK(!holds(try_it.goal, scenes));
    Recipe recipe = recipe_of(lesson.scenes[0]);
    make_change(recipe, "K[3,1] = 2");
    scenes.stand_in("main", std::make_shared<const Run>(make_run(recipe)));
    CHECK(holds(try_it.goal, scenes));
    scenes.stand_in("main", nullptr);
    CHECK(!holds(try_it.goal, scenes));
    for (const char* wrong : {"K[3,1]", "K[9,1] = 2", "Z[1,1] = 2", "K = 2", "K[1,1] = two", "X[1,1] = 2"})
        CHECK_THROWS_AS(make_change(recipe, wrong), Error);
}

TEST_CASE("an experiment changes a size as the front matter names it, and keeps the numbers that fit") {
    const Lesson lesson = parsed(small_lesson());
    Recipe recipe = recipe_of(lesson.scenes[0]);
    make_change(recipe, "bc = 4");
    CHECK(recipe.problem.bc == 4);
    CHECK(recipe.inputs.K[0] == recipe_of(lesson.scenes[0]).inputs.K[0]);
    make_change(recipe, "n = 6");
    CHECK(recipe.problem.n == 6);
    CHECK(recipe.problem.nk == 6);
    CHECK(recipe.inputs.Q[0].topRows(4) == recipe_of(lesson.scenes[0]).inputs.Q[0]);
    for (const char* wrong : {"bc = 0", "bc = two", "rows = 4", "bc = 4 5", "n", "causal = 1"})
        CHECK_THROWS_AS(make_change(recipe, wrong), Error);
}
