// What a lesson is: scenes, and a text cut into beats, each with its place in a scene, a question or something to try.
// The two languages share all of it but their words.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/text.h"
#include "lab/recipe.h"
#include "lessons/expression.h"
#include "lessons/place.h"

namespace flashstep {

struct Preset;

// Words in both languages: Markdown with formulas between dollars, references {{...}} (expression.h) and links to
// places (place.h). The line of the file in which each begins is kept for messages.
struct Prose {
    struct Part {
        std::string text;
        int line = 0;
    };
    Part parts[kLanguages];

    const Part& in(Language language) const { return parts[static_cast<int>(language)]; }
    Part& in(Language language) { return parts[static_cast<int>(language)]; }
    bool empty() const { return in(Language::English).text.empty(); }
};

// A named experiment of the lesson. Its inputs are made with recipe_of(), when they are needed.
struct Scene {
    std::string name;
    const Preset* preset = nullptr;
    Recipe recipe;                 // without inputs
    std::vector<std::string> set;  // cells of the inputs that are not the preset's: "K[3,1] = 2"
};

// A wrong answer that tempts, and why it does.
struct WrongAnswer {
    Expression answer;  // Value: what the number comes from; Cell: true for the cells that are meant
    Prose reply;
};

struct Option {
    Prose text;
    Expression when;          // Choice: true for the right option alone
    std::optional<Place> at;  // Breaks: the place; right if the scene's mistake shows there first
    Expression key;           // Order: items stand in the order of their keys
    Prose reply;              // why it tempts, if it is wrong
};

enum class QuestionKind {
    Value,   // a number is typed
    Choice,  // one of the options
    Cell,    // a cell of a tensor is clicked
    Order,   // the options are put in order
    Breaks,  // where a mistake shows first: one of the options
};

struct Question {
    QuestionKind kind = QuestionKind::Value;
    std::string scene = "main";   // Breaks: the one with the mistake
    Expression answer;            // Value: the number; Cell: true for the right cells (row, col), counted from 1
    std::string tensor;           // Cell
    Place at;                     // Cell: where the tensor is clicked
    std::vector<Option> options;  // Choice, Order, Breaks
    std::vector<WrongAnswer> wrong;
    Prose right;  // said with the right answer: why it is so
    int lines[kLanguages] = {};
};

// An experiment with a goal that the program can see.
struct TryIt {
    Expression goal;                    // of the run that is shown, which stands for `main`
    std::vector<std::string> solution;  // changes that reach it ("Q[1,1] = 3", "bc = 4"): there is one
    Prose done;                         // said when it is reached
    int lines[kLanguages] = {};
};

struct Beat {
    Place at;
    std::vector<std::string> focus;   // tensors to look at
    std::optional<CellName> explain;  // the cell whose formula is shown
    std::vector<std::string> panels;  // that join
    Prose text;
    std::optional<Question> question;
    std::optional<TryIt> try_it;
    int lines[kLanguages] = {};  // of its fence
};

struct Lesson {
    int number = 0;  // its place in the course
    std::string id;  // both from its folder's name, "06_fa2_forward"
    std::string folder;
    int part = 0;  // from 1, of course_parts()
    Prose title, aim;
    std::vector<std::string> sources;
    std::vector<Scene> scenes;  // the first is `main`
    std::vector<Beat> beats;

    std::string file(Language language) const;             // "lessons/06_fa2_forward/en.md"
    const Scene* find_scene(std::string_view name) const;  // nullptr: unknown
};

// Calls visit(prose) for every text of the lesson, in the order of the file.
template <class AnyLesson, class Visit>
void visit_prose(AnyLesson& lesson, Visit visit) {
    visit(lesson.title);
    visit(lesson.aim);
    for (auto& beat : lesson.beats) {
        visit(beat.text);
        if (beat.question) {
            for (auto& option : beat.question->options) visit(option.text), visit(option.reply);
            for (auto& wrong : beat.question->wrong) visit(wrong.reply);
            visit(beat.question->right);
        }
        if (beat.try_it) visit(beat.try_it->done);
    }
}

}  // namespace flashstep
