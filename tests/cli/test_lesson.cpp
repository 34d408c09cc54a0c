// flashstep lesson: the course on paper.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "lessons/lessons.h"
#include "tests/program.h"

using namespace flashstep;
using flashstep::testing::run_program;

TEST_CASE("every lesson is printed beat by beat in both languages, with numbers where its files have references") {
    for (const Lesson& lesson : lessons()) {
        for (const char* language : {"en", "zh"}) {
            CAPTURE(lesson.id);
            CAPTURE(language);
            const auto page = run_program({"lesson", lesson.id, "--lang", language});
            CHECK(page.status == 0);
            CHECK(page.out.find("{{") == std::string::npos);
            std::size_t at = 0;
            for (std::size_t k = 1; k <= lesson.beats.size(); ++k) {
                at = page.out.find(fmt::format("\n[{}/{}] ", k, lesson.beats.size()), at);
                REQUIRE(at != std::string::npos);
            }
            CHECK(page.out.find("\n  answer: ") == std::string::npos);
        }
    }
}

TEST_CASE("--answers gives each question's answer, why it is right, and what tempts") {
    const std::string page = run_program({"lesson", "fa2_forward", "--answers"}).out;
    const auto at = [&](const char* text) {
        CAPTURE(text);
        const std::size_t found = page.find(text);
        CHECK(found != std::string::npos);
        return found;
    };
    // The row sum of query 2 after its second tile, and the sum without the factor.
    CHECK(at("\n  answer: 1.64\n  why: 1.37 × 0.368 + 1 + 0.135 = 1.64.") < at("\n  not 2.50: "));
    at("\n  answer: S_ij[2,1]\n");
    at("\n  (b) in the second tile");
    at("\n  answer: (b)\n");
    at("\n  try: until m_i[1] @ line=9 i=1 j=2 > m_old[1] @ line=9 i=1 j=2; one way: K[3,1] = 2\n");
}

TEST_CASE("a lesson that is none is refused with those that there are") {
    const auto typo = run_program({"lesson", "fa2_foward"});
    CHECK(typo.status == 2);
    CHECK(typo.err.find("did you mean fa2_forward?") != std::string::npos);
    const auto none = run_program({"lesson"});
    CHECK(none.status == 2);
    CHECK(none.err.find("there are: ") != std::string::npos);
}
