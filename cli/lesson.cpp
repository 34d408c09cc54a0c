// flashstep lesson: a lesson's text with the numbers of its runs, beat by beat.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>

#include "cli/commands.h"
#include "cli/lookup.h"
#include "cli/names.h"
#include "cli/output.h"
#include "lessons/evaluate.h"
#include "lessons/questions.h"

namespace flashstep::cli {
namespace {

struct State {
    std::string lesson, language = "en";
    bool answers = false;
};

class Page {
  public:
    Page(const Lesson& lesson, Language language) : lesson_(&lesson), language_(language), scenes_(lesson) {}

    std::string text(bool answers) {
        page_ = fmt::format("{}\n{}\n", words(lesson_->title), words(lesson_->aim));
        for (std::size_t k = 0; k < lesson_->beats.size(); ++k) beat(k, answers);
        page_ += fmt::format("\n{}\n", fmt::join(lesson_->sources, "\n"));
        return std::move(page_);
    }

  private:
    std::string words(const Prose& prose) { return resolve(prose, language_, scenes_); }

    template <typename... Values>
    void line(fmt::format_string<Values...> format, Values&&... values) {
        page_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
    }

    void beat(std::size_t k, bool answers) {
        const Beat& beat = lesson_->beats[k];
        const std::string focus = beat.focus.empty() ? "" : fmt::format("; look at {}", fmt::join(beat.focus, ", "));
        line("\n[{}/{}] {}{}", k + 1, lesson_->beats.size(), place_text(beat.at), focus);
        line("{}", words(beat.text));
        if (beat.question) question(*beat.question, answers);
        if (beat.try_it && answers) {
            line("  try: until {}; one way: {}", beat.try_it->goal.text, fmt::join(beat.try_it->solution, ", "));
            line("  done: {}", words(beat.try_it->done));
        }
    }

    void question(const Question& question, bool answers) {
        char letter = 'a';
        for (const Option& option : question.options) line("  ({}) {}", letter++, words(option.text));
        if (!answers) return;
        switch (question.kind) {
            case QuestionKind::Value:
                line("  answer: {}",
                     number_text(evaluate(question.answer, scenes_), question.answer.style, Within::Text));
                break;
            case QuestionKind::Cell:
                for (const CellName& cell : right_cells(question, scenes_))
                    line("  answer: {}[{},{}]", cell.tensor, cell.row + 1, cell.col + 1);
                break;
            case QuestionKind::Order:
                for (const std::size_t option : right_order(question, scenes_)) letters(option);
                break;
            case QuestionKind::Choice:
            case QuestionKind::Breaks:
                for (const std::size_t option : right_options(question, scenes_)) letters(option);
                break;
        }
        line("  why: {}", words(question.right));
        for (const WrongAnswer& wrong : question.wrong) {
            const bool number = question.kind == QuestionKind::Value;
            line("  not {}: {}",
                 number ? number_text(evaluate(wrong.answer, scenes_), wrong.answer.style, Within::Text)
                        : wrong.answer.text,
                 words(wrong.reply));
        }
        letter = 'a';
        for (const Option& option : question.options) {
            if (!option.reply.empty()) line("  not ({}): {}", letter, words(option.reply));
            ++letter;
        }
    }

    void letters(std::size_t option) { line("  answer: ({})", static_cast<char>('a' + option)); }

    const Lesson* lesson_;
    Language language_;
    Scenes scenes_;
    std::string page_;
};

Action add(const Options& options, const Start&) {
    const auto state = std::make_shared<State>();
    options.text("LESSON", state->lesson, "one of `flashstep list`");
    options.text("--lang", state->language, "en or zh (en)", "NAME");
    options.flag("--answers", state->answers, "with the answers to its questions, and the replies to wrong ones");
    return [state] {
        const Lesson& lesson = lesson_named(state->lesson);
        print_page(Page(lesson, language_named(state->language)).text(state->answers));
        return kOk;
    };
}

}  // namespace

const Command kLesson{"lesson", "Prints a lesson beat by beat, with the numbers of its runs", add};

}  // namespace flashstep::cli
