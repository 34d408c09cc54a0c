// Mini-TeX: trees, names of symbols, plain text, and what malformed input gives.
#include <doctest/doctest.h>

#include <string>

#include "core/formula_tree.h"
#include "core/plain_formula.h"

using namespace flashstep;

TEST_CASE("the plain form of a formula reads as written by hand") {
    CHECK(plain_text(R"(S_{ij} = \tau Q_i K_j^\top)") == "S_ij = τ Q_i K_jᵀ");
    CHECK(plain_text(R"(\frac{1}{\sqrt{d}})") == "1/√d");
    CHECK(plain_text(R"(\frac{a+b}{c})") == "(a+b)/c");
    CHECK(plain_text(R"(Q \in \mathbb{R}^{N \times d})") == "Q ∈ ℝ^(N×d)");
    CHECK(plain_text(R"(m = -\infty)") == "m = −∞");
    CHECK(plain_text(R"(\mathrm{diag}(\ell_i)^{-1} O_i)") == "diag(ℓ_i)⁻¹ O_i");
    CHECK(plain_text(R"(\left\lceil \frac{N}{B_r} \right\rceil)") == "⌈N/B_r⌉");
    CHECK(plain_text(R"(dQ_i \leftarrow dQ_i + \tau dS_{ij} K_j)") == "dQ_i ← dQ_i + τ dS_ij K_j");
    CHECK(plain_text(R"(\unknown)") == R"(\unknown)");
    CHECK(plain_text("") == "");
}

TEST_CASE("a symbol has the algorithms' name for its tensor, whatever tildes and scripts it wears") {
    CHECK(formula_symbol("S", "ij", "") == "S_ij");
    CHECK(formula_symbol("ℓ", "i", "") == "l_i");
    CHECK(formula_symbol("K", "j", "T") == "K_j");
    CHECK(formula_symbol("m", "i", "(j)") == "m_i");
    CHECK(formula_symbol("m", "i", "(j-1)") == "m_old");
    CHECK(formula_symbol("m", "i", "new") == "m_new");
    CHECK(formula_symbol("m", "old", "") == "m_old");
    CHECK(formula_symbol("l", "i", "-1") == "l_i");
    CHECK(formula_symbol("S", "i", "(j)") == "S_ij");
    CHECK(formula_symbol("O", "i", "(j-1)") == "O_i");
    CHECK(formula_symbol("dQ", "i", "") == "dQ_i");
    CHECK(formula_symbol("Q", "", "") == "Q");
    CHECK(formula_symbol("B", "r", "") == "");
    CHECK(formula_symbol("N", "", "") == "");
    CHECK(formula_symbol("", "", "") == "");
}

TEST_CASE("malformed input gives an error with its column and never a crash") {
    CHECK(parse_formula(R"(a + \foo)").error == R"(unknown command \foo at column 5)");
    CHECK(parse_formula("x_{i").error == "'{' without '}' at column 3");
    CHECK(parse_formula("x}").error == "'}' without '{' at column 2");
    for (const char* bad : {"x_",
                            "x^",
                            "x__i",
                            "x_i_j",
                            R"(\frac)",
                            R"(\frac{1})",
                            R"(\frac 1)",
                            R"(\sqrt)",
                            R"(\)",
                            "{",
                            "}",
                            R"(\left()",
                            R"(\right))",
                            R"(\left x)",
                            R"(\mathrm)",
                            R"(\mathrm{)",
                            R"(\mathbb{Q})",
                            R"(\tilde)",
                            "\xff",
                            "\xe2\x88",
                            "a\x01",
                            R"(\text{\frac}})"}) {
        CAPTURE(std::string(bad));
        CHECK_FALSE(parse_formula(bad).error.empty());
        CHECK(parse_formula(bad).root.empty());
    }
}

TEST_CASE("nesting without end is an error") {
    std::string deep;
    for (int k = 0; k < 100000; ++k) deep += "{";
    CHECK(parse_formula(deep).error.find("nested too deeply") != std::string::npos);
    std::string fractions;
    for (int k = 0; k < 1000; ++k) fractions += "\\sqrt";
    CHECK_FALSE(parse_formula(fractions).error.empty());
}

TEST_CASE("every prefix of a formula parses or is an error") {
    const std::string whole =
        R"(\tilde{O}_i^{(j)} \leftarrow \mathrm{diag}(e^{m_i^{(j-1)} - m_i^{(j)}}) O_i + \left\lceil \frac{N}{\sqrt{B_r}} \right\rceil \sum_{k=1}^{N} ℝ)";
    for (std::size_t n = 0; n <= whole.size(); ++n) {
        const std::string part = whole.substr(0, n);
        const Formula f = parse_formula(part);
        CHECK((f.error.empty() || f.root.empty()));
        CHECK(plain_text(part).size() <= part.size() + 40);
    }
    CHECK(parse_formula(whole).error.empty());
}
