// What the two languages of a lesson share, and joining them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "lab/presets.h"
#include "lessons/evaluate.h"
#include "lessons/lesson_file.h"

namespace flashstep {
namespace {

class Lister {
  public:
    Lister(const Lesson& lesson, Language language) : lesson_(lesson), language_(language) {}

    std::vector<Shared> list() {
        add(1, fmt::format("part {}, sources {}", lesson_.part, fmt::join(lesson_.sources, "; ")));
        for (const Scene& scene : lesson_.scenes) add(1, scene_text(scene));
        words("the title", lesson_.title);
        words("the aim", lesson_.aim);
        for (const Beat& beat : lesson_.beats) {
            add(line_of(beat.lines),
                fmt::format("a beat at {}, focus {}, explain {}, panels {}", at(beat.at), fmt::join(beat.focus, " "),
                            explained(beat), fmt::join(beat.panels, " ")));
            words("the beat", beat.text);
            if (beat.question) question(*beat.question);
            if (beat.try_it) {
                add(line_of(beat.try_it->lines),
                    fmt::format("something to try: {}, solved by {}", beat.try_it->goal.text,
                                fmt::join(beat.try_it->solution, "; ")));
                words("what is said when it is done", beat.try_it->done);
            }
        }
        return std::move(all_);
    }

  private:
    void add(int line, std::string what) { all_.push_back({line, std::move(what)}); }
    int line_of(const int (&lines)[kLanguages]) const { return lines[static_cast<int>(language_)]; }
    static std::string at(const Place& place) { return place_text(place); }
    static std::string explained(const Beat& beat) {
        if (!beat.explain) return "nothing";
        return fmt::format("{}[{},{}]", beat.explain->tensor, beat.explain->row + 1, beat.explain->col + 1);
    }
    static std::string scene_text(const Scene& scene) {
        const Recipe& r = scene.recipe;
        const Problem& p = r.problem;
        return fmt::format(
            "scene {}: preset {}, {}, kernel {} without line {}, fault {}, n {} {}, d {} {}, blocks {} {}, scale {}, "
            "causal {}, heads {} {} {}, {}, base2 {}, seed {}, sram {}, set {}",
            scene.name, scene.preset->id, r.algorithm, r.kernel, r.without_line, r.fault, p.n, p.nk, p.d, p.dv, p.br,
            p.bc, p.scale, p.causal, p.batch, p.heads, p.kv_heads, name(p.dtype), p.base2, p.seed, p.sram_bytes,
            fmt::join(scene.set, "; "));
    }

    // The references and links of a text, each once: sentences of two languages say them in their own order.
    void words(std::string_view of_what, const Prose& prose) {
        std::set<std::string> references, links;
        for (const Expression& reference : references_of(prose, language_, lesson_)) references.insert(reference.text);
        for (const LinkTarget& link : links_of(prose, language_)) links.insert(link.text);
        add(prose.in(language_).line, fmt::format("{}{} with the references {{{}}} and the links ({})", of_what,
                                                  prose.in(language_).text.empty() ? ", no words," : "",
                                                  fmt::join(references, "}, {"), fmt::join(links, "), (")));
    }

    void question(const Question& q) {
        add(line_of(q.lines), fmt::format("a question of kind {} in {}: {}, {} at {}", static_cast<int>(q.kind),
                                          q.scene, q.answer.text, q.tensor, at(q.at)));
        for (const Option& option : q.options) {
            add(option.text.in(language_).line,
                fmt::format("an option {}{}{}", option.when.text, option.key.text, option.at ? at(*option.at) : ""));
            words("an option", option.text);
            words("its reply", option.reply);
        }
        for (const WrongAnswer& wrong : q.wrong) {
            add(wrong.reply.in(language_).line, fmt::format("a wrong answer {}", wrong.answer.text));
            words("its reply", wrong.reply);
        }
        words("what is said with the right answer", q.right);
    }

    const Lesson& lesson_;
    Language language_;
    std::vector<Shared> all_;
};

}  // namespace

std::vector<Shared> shared_by_languages(const Lesson& lesson, Language language) {
    return Lister(lesson, language).list();
}

Lesson join_languages(Lesson english, const Lesson& chinese) {
    const std::vector<Shared> en = shared_by_languages(english, Language::English),
                              zh = shared_by_languages(chinese, Language::Chinese);
    const std::string en_file = english.file(Language::English), zh_file = chinese.file(Language::Chinese);
    for (std::size_t k = 0; k < std::max(en.size(), zh.size()); ++k) {
        if (k < en.size() && k < zh.size() && en[k].what == zh[k].what) continue;
        const auto said = [&](const std::vector<Shared>& all, const std::string& file) {
            return k < all.size() ? fmt::format("{}:{} has {}", file, all[k].line, all[k].what)
                                  : fmt::format("{} ends", file);
        };
        throw Error(fmt::format("{}, but {}", said(zh, zh_file), said(en, en_file)),
                    "The languages of a lesson differ in their words alone");
    }
    std::vector<const Prose*> from;
    visit_prose(chinese, [&](const Prose& prose) { from.push_back(&prose); });
    std::size_t next = 0;
    visit_prose(english, [&](Prose& prose) { prose.in(Language::Chinese) = from[next++]->in(Language::Chinese); });
    constexpr auto kZh = static_cast<std::size_t>(Language::Chinese);
    for (std::size_t b = 0; b < english.beats.size(); ++b) {
        Beat& to = english.beats[b];
        const Beat& with = chinese.beats[b];
        to.lines[kZh] = with.lines[kZh];
        if (to.question) to.question->lines[kZh] = with.question->lines[kZh];
        if (to.try_it) to.try_it->lines[kZh] = with.try_it->lines[kZh];
    }
    return english;
}

}  // namespace flashstep
