// What was asked for, and the ways back and forth in it.
#include <doctest/doctest.h>

#include <random>

#include "lab/history.h"

using namespace flashstep;

namespace {

// A request that is known by its seed.
Recipe asked(std::uint64_t seed) {
    Recipe recipe;
    recipe.problem.seed = seed;
    return recipe;
}

std::uint64_t at(const History& history) { return history.now().problem.seed; }

History history_of(std::initializer_list<std::uint64_t> seeds) {
    History history;
    for (const std::uint64_t seed : seeds) history.add(asked(seed));
    return history;
}

}  // namespace

TEST_CASE("every request is one step back, the same one again is none") {
    History history = history_of({1, 2, 2, 3});
    CHECK(history.size() == 3);
    CHECK(at(history) == 3);
    history.go_back();
    CHECK(at(history) == 2);
    history.go_back();
    CHECK(at(history) == 1);
    CHECK_FALSE(history.can_go_back());
    history.go_back();
    CHECK(at(history) == 1);
    history.go_forth(), history.go_forth(), history.go_forth();
    CHECK(at(history) == 3);
}

TEST_CASE("a request after going back replaces what lay ahead") {
    History history = history_of({1, 2, 3});
    history.go_back(), history.go_back();
    history.add(asked(4));
    CHECK(history.size() == 2);
    CHECK_FALSE(history.can_go_forth());
    history.go_back();
    CHECK(at(history) == 1);
}

TEST_CASE("what cannot be had goes, and leads back to where it was reached from") {
    History forth = history_of({1, 2, 3});
    CHECK(forth.take_back());
    CHECK(at(forth) == 2);
    CHECK(forth.size() == 2);

    History back = history_of({1, 2, 3});
    back.go_back();
    CHECK(back.take_back());
    CHECK(at(back) == 3);
    back.go_back();
    CHECK(at(back) == 1);

    History first = history_of({1, 2});
    first.go_back();
    CHECK(first.take_back());
    CHECK(at(first) == 2);

    History only = history_of({1});
    CHECK_FALSE(only.take_back());
    CHECK(at(only) == 1);
}

TEST_CASE("what is shown is found again, wherever one went") {
    History history = history_of({1, 2, 3});
    history.go_back();
    history.mark_shown();
    CHECK(history.at_shown());
    history.go_forth();
    CHECK_FALSE(history.at_shown());
    history.add(asked(4)), history.add(asked(5));
    history.return_to_shown(asked(2));
    CHECK(at(history) == 2);
    CHECK(history.can_go_forth());

    history.go_back();
    history.return_to_shown(asked(2));
    CHECK(at(history) == 2);

    // It was cut off by a request from before it: it comes last.
    history.go_back();
    history.add(asked(6));
    CHECK_FALSE(history.at_shown());
    history.return_to_shown(asked(2));
    CHECK(at(history) == 2);
    CHECK(history.at_shown());
    history.go_back();
    CHECK(at(history) == 6);
}

TEST_CASE("taking back keeps its place on what is shown") {
    History history = history_of({1, 2, 3});
    history.mark_shown();
    history.go_back();
    CHECK(history.take_back());
    CHECK(history.at_shown());
    CHECK(history.take_back());  // what is shown can be had
    CHECK(at(history) == 3);
    CHECK(history.size() == 2);
}

TEST_CASE("the oldest requests are forgotten, by their number and by the numbers in them") {
    History history;
    for (std::uint64_t seed = 1; seed <= 3 * History::kMost; ++seed) history.add(asked(seed));
    CHECK(history.size() == History::kMost);
    CHECK(at(history) == 3 * History::kMost);

    History large;
    Recipe recipe;
    recipe.inputs.Q.push_back(Matrix::Zero(1 << 11, 1 << 12));  // a quarter of the limit
    for (int k = 0; k < 10; ++k) {
        recipe.problem.seed = static_cast<std::uint64_t>(k);
        large.add(recipe);
    }
    CHECK(large.size() == 4);
    recipe.inputs.Q.assign(5, recipe.inputs.Q.front());
    large.add(recipe);
    CHECK(large.size() == 1);  // more than the limit, but it is what is shown next
}

TEST_CASE("no sequence of moves leaves the list") {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        History history;
        std::uint64_t seed = 0, shown = 0;
        for (int move = 0; move < 60; ++move) {
            switch (random() % 6) {
                case 0:
                case 1:
                    history.add(asked(++seed));
                    break;
                case 2:
                    history.go_back();
                    break;
                case 3:
                    history.go_forth();
                    break;
                case 4:
                    if (random() % 2 == 0)
                        history.mark_shown(), shown = at(history);
                    else
                        history.take_back();
                    break;
                case 5:
                    if (shown == 0) break;
                    history.return_to_shown(asked(shown));
                    REQUIRE(at(history) == shown);
                    break;
            }
            if (history.empty()) {
                shown = 0;
                continue;
            }
            REQUIRE(at(history) >= 1);
            REQUIRE(at(history) <= seed);
            if (history.at_shown()) REQUIRE(at(history) == shown);
        }
    }
}
