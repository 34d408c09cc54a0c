// What a mistake changes in its line of the pseudo-code.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "core/algorithms.h"
#include "core/error.h"
#include "core/faults.h"
#include "core/formula_tree.h"

using namespace flashstep;

namespace {

const PseudoLine& line_of(const Fault& fault) {
    const Algorithm& algorithm = *find_algorithm(fault.algorithm);
    return *std::ranges::find(algorithm.lines, fault.line, &PseudoLine::number);
}

// The text's formulas stand at its odd places.
std::string error_in(std::string_view text) {
    for (bool formula = false;; formula = !formula) {
        const std::size_t end = std::min(text.find('$'), text.size());
        if (formula)
            if (const std::string error = parse_formula(text.substr(0, end)).error; !error.empty()) return error;
        if (end == text.size()) return formula ? "a dollar without a partner" : "";
        text.remove_prefix(end + 1);
    }
}

}  // namespace

TEST_CASE("every mistake shows in its line what it strikes or puts, in both languages") {
    for (const Fault& fault : faults()) {
        CAPTURE(std::string(fault.id));
        for (const Language language : {Language::English, Language::Chinese}) {
            const std::string right(line_of(fault).tex().in(language)), wrong = with_mistake(right, fault, language);
            CHECK(wrong != right);
            CHECK((wrong.find("\\struck{") != wrong.npos || wrong.find("\\put{") != wrong.npos));
            CHECK(error_in(wrong) == "");
        }
    }
    CHECK(error_in("a $\\struck$ b") != "");
    CHECK(error_in("a $x b") != "");
}

TEST_CASE("what is struck stands where it was, and what is put behind it") {
    const Fault& fault = *find_fault("tile-max");
    CHECK(with_mistake("$P \\leftarrow e^{S_{ij} - m_i}$, load", fault, Language::English) ==
          "$P \\leftarrow \\struck{e^{S_{ij} - m_i}}\\put{e^{S_{ij} - \\mathrm{rowmax}(S_{ij})}}$, load");
    CHECK(with_mistake("$\\tau Q$", *find_fault("no-scale"), Language::Chinese) == "$\\struck{\\tau} Q$");
    CHECK_THROWS_AS(with_mistake("$P$", fault, Language::English), Error);
    CHECK_THROWS_AS(with_mistake("$e^{S_{ij} - m_i} e^{S_{ij} - m_i}$", fault, Language::English), Error);
}
