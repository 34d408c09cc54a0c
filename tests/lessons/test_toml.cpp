// The part of TOML that lessons use: what is read, and what is refused with its line.
#include <doctest/doctest.h>

#include "lessons/toml.h"
#include "tests/lessons/lesson_text.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

const SourceFile kFile{"file.md"};

std::vector<TomlSection> read(std::string_view text) { return parse_toml(text, 1, kFile); }

template <class Value>
Value value_of(std::string_view text) {
    return std::get<Value>(read(text)[0].entries.at(0).value);
}

std::string refused(std::string_view text) {
    return error_of([&] { read(text); });
}

}  // namespace

TEST_CASE("texts, numbers, flags and lists are read as TOML means them") {
    CHECK(value_of<std::string>(R"(a = "x \"y\" \\ \n")") == "x \"y\" \\ \n");
    CHECK(value_of<std::string>(R"(a = 'C:\tilde{O} "')") == R"(C:\tilde{O} ")");
    CHECK(value_of<std::string>("a = '''\none's\n[b] = 2\n'''") == "one's\n[b] = 2\n");
    CHECK(value_of<std::string>("a = \"\"\"x\ny\"\"\" # a comment") == "x\ny");
    CHECK(value_of<std::string>("a = ''") == "");
    CHECK(value_of<std::int64_t>("a=-12") == -12);
    CHECK(value_of<double>("a = 0.5") == 0.5);
    CHECK(value_of<double>("a = 1e-3") == 1e-3);
    CHECK(value_of<bool>("a = true"));
    CHECK(value_of<std::vector<std::string>>("a = []").empty());
    CHECK(value_of<std::vector<std::string>>("a = [ 'x',  # one\n\n \"y\",\n]") == std::vector<std::string>{"x", "y"});
}

TEST_CASE("sections stand in their order with their lines") {
    const auto sections = read("a = 1\n\n# no [header]\n[t.one]\nb = 2\n[[e]]\n[[e]]\nc = 3\n");
    REQUIRE(sections.size() == 4);
    CHECK(sections[0].entries.size() == 1);
    CHECK(sections[1].name == "t.one");
    CHECK(!sections[1].element);
    CHECK(sections[1].line == 4);
    CHECK(sections[1].find("b")->line == 5);
    CHECK(sections[2].element);
    CHECK(sections[2].entries.empty());
    CHECK(sections[3].find("c"));
    CHECK(!sections[3].find("b"));
    CHECK(parse_toml("a = 1", 40, kFile)[0].entries[0].line == 40);
    CHECK(read("").size() == 1);
}

TEST_CASE("what is no TOML is refused with its line") {
    struct Row {
        const char *text, *says;
    };
    for (const Row& row : {
             Row{"\na", "file.md:2: = is missing after a"},
             Row{"a =", "file.md:1: a has no value"},
             Row{"a = \nb = 1", "file.md:1: a has no value"},
             Row{"a = b", "file.md:1: a has a value that cannot be read"},
             Row{"a = 1 2", "file.md:1: '2' after the end of a value"},
             Row{"a = 1.2.3", "a has a value that cannot be read"},
             Row{"a = 99999999999999999999999x", "a has a value that cannot be read"},
             Row{"a = 1\na = 2", "file.md:2: a second a"},
             Row{"= 1", "a key is missing"},
             Row{"a = 'x\n'", "file.md:1: a text that does not end"},
             Row{"a = '''x\n\n", "file.md:1: a text that does not end"},
             Row{"a = \"\\x\"", "a backslash before something else"},
             Row{"a = \"\\", "a backslash before something else"},
             Row{"a = [", "file.md:1: a list that does not end"},
             Row{"a = ['x' 'y']", "a comma is missing in a list"},
             Row{"a = [[1]]", "a list of something else than texts"},
             Row{"[t", "the header of t does not end"},
             Row{"[[t]", "the header of t does not end"},
             Row{"[]", "the name of a table is missing"},
             Row{"[t]\n[t]", "file.md:2: a second [t]"},
             Row{"[t]\n[[t]]", "file.md:2: a second [t]"},
             Row{"[t] a = 1", "'a = 1' after the end of a value"},
             Row{"a = 1。", "'。' after the end of a value"},
             Row{"标题 = 1", "a key is missing"},
         }) {
        CAPTURE(row.text);
        const std::string error = refused(row.text);
        CHECK_MESSAGE(error.find(row.says) != std::string::npos, error);
    }
}
