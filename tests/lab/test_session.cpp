// Asking for runs: no call waits for one, and nothing that was asked for is lost.
#include <doctest/doctest.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

#include "lab/presets.h"
#include "lab/session.h"

using namespace flashstep;
using namespace std::chrono_literals;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

// A second and more of work.
Recipe slow() {
    Recipe recipe;
    Problem& p = recipe.problem;
    p.n = p.nk = 768, p.d = p.dv = 64, p.br = p.bc = 32;
    recipe.inputs = make_inputs(p);
    return recipe;
}

Recipe small() { return recipe_of(*find_preset("n4d3")); }

double milliseconds_of(const std::function<void()>& work) {
    const auto begin = Clock::now();
    work();
    return Milliseconds(Clock::now() - begin).count();
}

// A machine under load may take the thread off its core for longer than the limit: one of three tries has to hold it.
// What waits for a run waits in each of them.
bool holds_once(const std::function<double()>& worst_milliseconds, double limit) {
    for (int k = 0; k < 3; ++k)
        if (worst_milliseconds() < limit * FLASHSTEP_TIMES_SLOWER) return true;
    return false;
}

int threads_here() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "Threads:") {
            int count = 0;
            status >> count;
            return count;
        }
    return -1;
}

double shown_cell(const Session& session) { return session.run()->recipe.inputs.Q[0](0, 0); }

void set(Session& session, double value) { session.set_cell(InputMatrix::Q, 0, 0, 0, value); }

// Up to its first run.
struct Opened {
    Session session;
    Opened() {
        session.request(small());
        session.wait();
        REQUIRE(session.run());
    }
};

}  // namespace

TEST_CASE("while a slow run is made, no call takes 50 ms") {
    CHECK(holds_once(
        [] {
            Session session;
            double worst = 0;
            const auto call = [&](const std::function<void()>& work) { worst = std::max(worst, milliseconds_of(work)); };
            call([&] { session.request(slow()); });
            for (int k = 0; k < 5; ++k) {
                std::this_thread::sleep_for(20ms);
                call([&] { session.poll(); });
                call([&] { set(session, k + 0.25); });
                std::this_thread::sleep_for(20ms);
                call([&] { session.undo(); });
                call([&] { session.redo(); });
            }
            CHECK(session.busy());
            std::this_thread::sleep_for(100ms);
            call([&] { session.cancel(); });
            CHECK_FALSE(session.busy());
            return worst;
        },
        50));
}

TEST_CASE("a session that goes while a slow run is made takes it with it") {
    CHECK(holds_once(
        [] {
            auto session = std::make_unique<Session>();
            session->request(slow());
            std::this_thread::sleep_for(50ms);
            return milliseconds_of([&] { session.reset(); });
        },
        400));
}

TEST_CASE("after a cancel nothing is busy, and a small run is not held up by what was cancelled") {
    CHECK(holds_once(
        [] {
            Opened opened;
            Session& session = opened.session;
            session.request(slow());
            std::this_thread::sleep_for(100ms);
            session.cancel();
            CHECK_FALSE(session.busy());
            CHECK(session.error() == Sentence("cancelled"));
            CHECK(session.recipe() == session.run()->recipe);
            return milliseconds_of([&] {
                set(session, 5);
                session.wait();
                CHECK(shown_cell(session) == 5);
            });
        },
        400));
}

TEST_CASE("of a hundred requests the last one is shown, and no thread is left behind") {
    Opened opened;
    Session& session = opened.session;
    const int before = threads_here();
    for (int k = 1; k <= 100; ++k) {
        set(session, k);
        if (k % 10 == 0) session.poll();
    }
    CHECK(threads_here() == before);
    session.wait();
    CHECK(shown_cell(session) == 100);
    CHECK_FALSE(session.busy());
    for (int k = 99; k > 90; --k) {
        session.undo();
        session.wait();
        CHECK(shown_cell(session) == k);
    }
}

TEST_CASE("two quick edits are two steps back") {
    Opened opened;
    Session& session = opened.session;
    const double first = shown_cell(session);
    set(session, 10), set(session, 11);
    session.undo();
    session.wait();
    CHECK(shown_cell(session) == 10);
    session.undo();
    session.wait();
    CHECK(shown_cell(session) == first);
    CHECK_FALSE(session.can_undo());
    session.redo(), session.redo();
    session.wait();
    CHECK(shown_cell(session) == 11);
    CHECK_FALSE(session.can_redo());
}

TEST_CASE("what was asked for can be read until the next poll, whatever is requested meanwhile") {
    Session session;
    session.request(small());
    session.wait();
    const Recipe& before = session.recipe();
    const double first = before.inputs.Q[0](0, 0);
    // More than the history keeps, so that `before` is forgotten; and ways that drop what lay ahead.
    for (std::size_t k = 0; k <= History::kMost; ++k) set(session, static_cast<double>(k) + 2);
    session.undo();
    set(session, -1);
    session.cancel();
    CHECK(before.inputs.Q[0](0, 0) == first);
}

TEST_CASE("undo while a run is made undoes the request, and needs no run where it leads to what is shown") {
    Opened opened;
    Session& session = opened.session;
    const auto shown = session.shared_run();
    session.request(slow());
    CHECK(session.busy());
    session.undo();
    CHECK_FALSE(session.busy());
    CHECK(session.shared_run() == shown);
    CHECK(session.recipe() == shown->recipe);
    REQUIRE(session.can_redo());
    session.redo();
    CHECK(session.busy());
    CHECK(session.recipe().problem.n == 768);
    session.cancel();
}

TEST_CASE("what is cancelled can be redone") {
    Opened opened;
    Session& session = opened.session;
    set(session, 3);
    session.edit([](Recipe& recipe) { recipe.problem.scale = 2; });
    session.cancel();
    CHECK(session.recipe() == session.run()->recipe);
    session.redo(), session.redo();
    session.wait();
    CHECK(shown_cell(session) == 3);
    CHECK(session.run()->recipe.problem.scale == 2);
}

TEST_CASE("a request that fails is taken back, and what was asked for just before it is made") {
    Opened opened;
    Session& session = opened.session;
    set(session, 7);
    session.edit([](Recipe& recipe) { recipe.problem.sram_bytes = 1; });  // nothing fits
    session.wait();
    CHECK(shown_cell(session) == 7);
    CHECK_FALSE(session.error().empty());
    CHECK(session.recipe() == session.run()->recipe);
    CHECK(session.recipe().problem.sram_bytes == 0);
    CHECK_FALSE(session.can_redo());
    // The next edit starts from what is shown, and one step back is what was there before it.
    session.edit([](Recipe& recipe) { recipe.problem.scale = 2; });
    CHECK(session.error().empty());
    session.wait();
    CHECK(shown_cell(session) == 7);
    session.undo();
    session.wait();
    CHECK(shown_cell(session) == 7);
    CHECK(session.run()->recipe.problem.scale == 1);
}

TEST_CASE("where nothing was shown yet, a failed request says why and stays to be changed") {
    Session session;
    Recipe recipe = small();
    recipe.problem.sram_bytes = 1;
    session.request(recipe);
    CHECK_FALSE(session.wait());
    CHECK(session.run() == nullptr);
    CHECK_FALSE(session.error().empty());
    CHECK(session.recipe() == recipe);
    session.edit([](Recipe& changed) { changed.problem.sram_bytes = 0; });
    CHECK(session.wait());
    CHECK(session.error().empty());
}

TEST_CASE("progress goes over the whole run and never back") {
    Session session;
    Recipe recipe = slow();
    recipe.problem.n = recipe.problem.nk = 256;
    recipe.inputs = make_inputs(recipe.problem);
    session.request(recipe);
    float last = 0;
    int values = 0;
    while (session.busy()) {
        const float now = session.progress();
        CHECK(now >= last);
        CHECK(now <= 1);
        if (now > last) ++values;
        last = now;
        session.poll();
        std::this_thread::sleep_for(1ms);
    }
    CHECK(values >= 5);
    CHECK(session.run());
}

TEST_CASE("the other thread says when a run is finished, so that a sleeping window wakes") {
    Session session;
    std::atomic<int> woken = 0;
    session.on_finished = [&] { ++woken; };
    session.request(small());
    session.wait();
    for (int k = 0; k < 1000 && woken == 0; ++k) std::this_thread::sleep_for(1ms);
    CHECK(woken == 1);
}
