// Times on a GPU as Markdown, and flashstep bench-table.
#include "cli/bench_table.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/error.h"
#include "core/io/file.h"

namespace flashstep::cli {
namespace {

constexpr const char* kDash = "–";

struct Column {
    int d;
    bool causal;
};

// Of the schedule, in its order.
std::vector<Column> columns() {
    std::vector<Column> out;
    for (const gpu::BenchShape& s : gpu::bench_schedule())
        if (std::ranges::none_of(out, [&](const Column& c) { return c.d == s.d && c.causal == s.causal; }))
            out.push_back({s.d, s.causal});
    return out;
}

std::set<int, std::greater<>> lengths() {  // N, the largest first
    std::set<int, std::greater<>> out;
    for (const gpu::BenchShape& s : gpu::bench_schedule()) out.insert(s.n);
    return out;
}

std::string title(const Column& c) { return fmt::format("d={}{}", c.d, c.causal ? " causal" : ""); }

std::string grouped(int n) { return n < 1000 ? fmt::format("{}", n) : fmt::format("{},{:03}", n / 1000, n % 1000); }

// Three digits: 1234, 368, 36.8, 0.368.
std::string three_digits(double value) {
    if (value >= 99.95) return fmt::format("{:.0f}", value);
    return fmt::format("{:#.3g}", value);  // with trailing zeros
}

std::string ratio(double value) { return value < 0.095 ? fmt::format("{:.2g}", value) : fmt::format("{:.2f}", value); }

// Text from a file, as plain words in Markdown: no table cell, tag or comment ends in it.
std::string plain(std::string_view text) {
    std::size_t most = std::min<std::size_t>(text.size(), 300);
    while (most > 0 && most < text.size() && (static_cast<unsigned char>(text[most]) & 0xc0) == 0x80)
        --most;  // to where a character begins in UTF-8
    std::string out;
    for (const char c : text.substr(0, most)) {
        if (c == '<' || c == '>') {
            out += c == '<' ? "&lt;" : "&gt;";
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += ' ';
        } else {
            if (std::string_view("\\|`*_[]").find(c) != std::string_view::npos) out += '\\';
            out += c;
        }
    }
    return out;
}

// One line of a table: a rung or a peer in a number format.
struct Line {
    std::string name, dtype;
    bool ours;
    std::vector<const BenchResult*> results;  // of the pass

    const BenchResult* find(const Column& c, int n) const {
        for (const BenchResult* r : results)
            if (r->shape.d == c.d && r->shape.causal == c.causal && r->shape.n == n) return r;
        return nullptr;
    }
    const BenchResult* timed(const Column& c, int n) const {
        const BenchResult* found = find(c, n);
        return found && found->timed() ? found : nullptr;
    }
    bool ever(const Column& c) const {
        return std::ranges::any_of(results, [&](const BenchResult* r) {
            return r->timed() && r->shape.d == c.d && r->shape.causal == c.causal;
        });
    }
    std::string label() const { return ours ? fmt::format("`{}`", name) : plain(name); }
};

std::vector<Line> lines_of(const BenchResults& from, gpu::Pass pass, bool ours) {
    std::vector<Line> lines;
    for (const BenchResult& r : from.results) {
        if (r.shape.pass != pass) continue;
        const auto same = [&](const Line& line) { return line.name == r.name && line.dtype == r.dtype; };
        auto found = std::ranges::find_if(lines, same);
        if (found == lines.end()) found = lines.insert(lines.end(), Line{r.name, r.dtype, ours, {}});
        found->results.push_back(&r);
    }
    const auto rung = [](const Line& line) { return gpu::find_kernel(line.name) - gpu::kernels().data(); };
    if (ours) std::ranges::stable_sort(lines, {}, rung);
    return lines;
}

// All that was timed of one pass.
struct Table {
    gpu::Pass pass;
    std::vector<Line> rungs, peers;

    double best_peer(const Column& c, int n) const {
        double best = 0;
        for (const Line& peer : peers)
            if (const BenchResult* r = peer.timed(c, n)) best = std::max(best, r->tflops());
        return best;
    }

    std::string cell(const Line& line, const Column& c, int n) const {
        const BenchResult* r = line.timed(c, n);
        if (!r) return kDash;
        const double best = best_peer(c, n);
        return three_digits(r->tflops()) + (best > 0 ? fmt::format(" ({})", ratio(r->tflops() / best)) : "");
    }

    // The largest N that the line and every peer ran in each column that they ran at all; without one, the largest that
    // the line ran in any. 0: none.
    int length(const Line& line) const {
        const auto runs_at = [](const Line& l, const Column& c, int n) { return !l.ever(c) || l.timed(c, n); };
        for (const int n : lengths())
            if (std::ranges::all_of(columns(),
                                    [&](const Column& c) {
                                        return runs_at(line, c, n) &&
                                               (!line.ever(c) || std::ranges::all_of(peers, [&](const Line& peer) {
                                                   return runs_at(peer, c, n);
                                               }));
                                    }) &&
                std::ranges::any_of(columns(), [&](const Column& c) { return line.timed(c, n) != nullptr; }))
                return n;
        for (const int n : lengths())
            if (std::ranges::any_of(columns(), [&](const Column& c) { return line.timed(c, n) != nullptr; })) return n;
        return 0;
    }

    const Line* best_rung() const {
        const Line* best = nullptr;
        double most = 0;
        for (const Line& rung : rungs)
            for (const BenchResult* r : rung.results)
                if (r->timed() && r->tflops() > most) most = r->tflops(), best = &rung;
        return best;
    }

    // A format that no peer has.
    bool of_another_format(const Line& line) const {
        return !peers.empty() && std::ranges::none_of(peers, [&](const Line& p) { return p.dtype == line.dtype; });
    }
};

std::string table_row(const std::vector<std::string>& cells) {
    return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string table_head(const std::vector<std::string>& titles) {
    std::string rule = "|";
    for (std::size_t k = 0; k < titles.size(); ++k) rule += "---|";
    return table_row(titles) + rule + "\n";
}

std::string ladder_page(const Table& table) {
    std::vector<std::string> titles = {fmt::format("{}, TFLOP/s", gpu::name(table.pass)), "format", "N"};
    for (const Column& c : columns()) titles.push_back(title(c));
    std::string page = table_head(titles);
    for (const std::vector<Line>* lines : {&table.rungs, &table.peers})
        for (const Line& line : *lines) {
            const int n = table.length(line);
            std::vector<std::string> cells = {
                line.label(), line.dtype + (table.of_another_format(line) ? " (\\*)" : ""), n ? grouped(n) : kDash};
            for (const Column& c : columns()) cells.push_back(table.cell(line, c, n));
            page += table_row(cells);
        }
    return page + "\n";
}

std::string growth_page(const std::vector<Table>& tables) {
    std::vector<std::string> titles = {"N"}, rungs;
    for (const Table& table : tables) {
        const Line* best = table.best_rung();
        if (!best) continue;
        rungs.push_back(fmt::format("{} {}", best->label(), gpu::name(table.pass)));
        for (const Column& c : columns()) titles.push_back(fmt::format("{}, {}", gpu::name(table.pass), title(c)));
    }
    std::string page =
        fmt::format("The fastest rungs over N, TFLOP/s: {}.\n\n{}", fmt::join(rungs, ", "), table_head(titles));
    const auto all = lengths();
    for (auto n = all.rbegin(); n != all.rend(); ++n) {
        std::vector<std::string> cells = {grouped(*n)};
        for (const Table& table : tables)
            if (const Line* best = table.best_rung())
                for (const Column& c : columns()) cells.push_back(table.cell(*best, c, *n));
        page += table_row(cells);
    }
    return page + "\n";
}

// Two reasons that differ in their numbers only are one.
std::string without_numbers(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c < '0' || c > '9')
            out += c;
        else if (out.empty() || out.back() != '#')
            out += '#';
    return out;
}

// Columns with the same N stand together: "d=64, d=128 with N = 512, 1,024".
std::string shapes_text(const std::vector<std::pair<std::string, std::vector<std::string>>>& by_column) {
    std::vector<std::pair<std::string, std::string>> by_lengths;
    for (const auto& [column, numbers] : by_column) {
        const std::string text = fmt::format("{}", fmt::join(numbers, " / "));
        auto found = std::ranges::find(by_lengths, text, &std::pair<std::string, std::string>::first);
        if (found == by_lengths.end())
            by_lengths.emplace_back(text, column);
        else
            found->second += ", " + column;
    }
    std::vector<std::string> out;
    for (const auto& [numbers, names] : by_lengths) out.push_back(fmt::format("{} with N = {}", names, numbers));
    return fmt::format("{}", fmt::join(out, "; "));
}

// Why a line has no times, a note for each reason.
std::string notes_of(const Line& line, gpu::Pass pass) {
    struct Note {
        std::string key, reason;
        bool varies = false;
        std::vector<std::pair<std::string, std::vector<std::string>>> shapes;  // a column's title, and each N
    };
    std::vector<Note> notes;
    for (const gpu::BenchShape& s : gpu::bench_schedule()) {
        const Column column{s.d, s.causal};
        if (s.pass != pass || line.timed(column, s.n)) continue;
        const BenchResult* r = line.find(column, s.n);
        const std::string reason = r ? r->skipped : "not in the file", key = without_numbers(reason);
        auto note = std::ranges::find(notes, key, &Note::key);
        if (note == notes.end()) note = notes.insert(notes.end(), Note{key, reason, false, {}});
        note->varies = note->varies || note->reason != reason;
        if (note->shapes.empty() || note->shapes.back().first != title(column))
            note->shapes.push_back({title(column), {}});
        note->shapes.back().second.push_back(grouped(s.n));
    }
    std::string page;
    for (const Note& note : notes)
        page += fmt::format("- {} ({}) {}, {}: {}{}\n", line.label(), line.dtype, gpu::name(pass),
                            shapes_text(note.shapes), plain(note.reason), note.varies ? " (the first of them)" : "");
    return page;
}

std::string names_of(const std::vector<Table>& tables) {
    std::vector<std::string> names;
    for (const Table& table : tables)
        for (const Line& peer : table.peers)
            if (std::ranges::find(names, peer.label()) == names.end()) names.push_back(peer.label());
    return fmt::format("{}", fmt::join(names, ", "));
}

// Replacing a file needs its folder only; a page that is marked as not to be written stays.
void check_writable(const std::string& page) {
    if (::access(page.c_str(), W_OK) != 0)
        throw Error(fmt::format("cannot write {}: {}", io::quoted(page, 200), std::strerror(errno)));
}

Action add(const Options& options, const Start&) {
    struct State {
        std::string results, peers, into;
    };
    const auto state = std::make_shared<State>();
    options.text("RESULTS", state->results, "the file of `bench --device --json=FILE`");
    options.text("--peers", state->peers, "the file of gpu/bench_torch.py on the same machine", "FILE");
    options.text("--into", state->into, "put it between the markers of this page", "FILE");
    return [state] {
        if (state->results.empty())
            throw Error("RESULTS is needed, the file of `flashstep bench --device --json=FILE`");
        const BenchResults ours =
            parse_bench_results(io::read_file(state->results), state->results, BenchSource::Flashstep);
        BenchResults peers;
        if (!state->peers.empty()) {
            peers = parse_bench_results(io::read_file(state->peers), state->peers, BenchSource::Peers);
            check_comparable(ours, peers);
        }
        const std::string table = bench_table(ours, state->peers.empty() ? nullptr : &peers);
        if (state->into.empty()) {
            print_page(table);
            return kOk;
        }
        const std::string page = io::read_file(state->into);
        check_writable(state->into);
        const std::string fresh = with_table(page, table, state->into);
        if (fresh != page) io::write_file(state->into, fresh);
        print_note(fmt::format("{}: {}", io::quoted(state->into, 200),
                               fresh != page ? "the table is in it" : "nothing changed"));
        return kOk;
    };
}

}  // namespace

std::string bench_table(const BenchResults& ours, const BenchResults* peers) {
    std::vector<Table> tables;
    for (const gpu::Pass pass : {gpu::Pass::Forward, gpu::Pass::Backward}) {
        Table table{pass, lines_of(ours, pass, true), {}};
        if (peers) table.peers = lines_of(*peers, pass, false);
        if (!table.rungs.empty()) tables.push_back(std::move(table));
    }
    std::string page = fmt::format("**{}** ({}, driver for CUDA {}), {}.\n", plain(ours.device), plain(ours.target),
                                   plain(ours.driver), plain(ours.date));
    page +=
        "TFLOP/s by the papers' formula: 4 N² d per head forward, half of it if causal, 2.5 times that backward; "
        "16,384 "
        "tokens,\nheads x d = 2,048; median of runs, the L2 cache overwritten before each. ";
    page += peers
                ? fmt::format("In parentheses: the part of the fastest peer on\nthe same shape; peers are {} ({}).\n\n",
                              names_of(tables), plain(peers->source))
                : "No peer was measured with\nthem (`bench-table --peers FILE` adds them), so there are no ratios.\n\n";
    bool another = false;
    for (const Table& table : tables) {
        page += ladder_page(table);
        another =
            another || std::ranges::any_of(table.rungs, [&](const Line& l) { return table.of_another_format(l); });
    }
    page += growth_page(tables);
    if (another)
        page +=
            "(\\*) Another number format than the peers': its arithmetic and its bytes cost more, so the ratio is not "
            "one of kernels\nalone.\n\n";
    std::string notes;
    for (const Table& table : tables)
        for (const std::vector<Line>* lines : {&table.rungs, &table.peers})
            for (const Line& line : *lines) notes += notes_of(line, table.pass);
    return notes.empty() ? page : page + fmt::format("Not timed ({}):\n\n{}\n", kDash, notes);
}

std::string with_table(std::string_view page, const std::string& table, const std::string& file) {
    const auto stop = [&](const std::string& what) {
        throw Error(fmt::format("{}: {}", io::quoted(file, 200), what),
                    fmt::format("the table goes between one line {} and one line {}", kTableBegin, kTableEnd));
    };
    const std::size_t begin = page.find(kTableBegin), end = page.find(kTableEnd);
    if (begin == std::string_view::npos) stop(fmt::format("no {} in it", kTableBegin));
    if (end == std::string_view::npos) stop(fmt::format("no {} in it", kTableEnd));
    if (page.find(kTableBegin, begin + 1) != std::string_view::npos) stop(fmt::format("{} twice", kTableBegin));
    if (page.find(kTableEnd, end + 1) != std::string_view::npos) stop(fmt::format("{} twice", kTableEnd));
    if (end < begin) stop(fmt::format("{} before {}", kTableEnd, kTableBegin));
    const std::size_t after = begin + kTableBegin.size();
    const bool carriage_returns = page.substr(after).starts_with("\r\n");
    std::string lines;
    for (const char c : "\n\n" + table) {
        if (c == '\n' && carriage_returns) lines += '\r';
        lines += c;
    }
    return std::string(page.substr(0, after)) + lines + std::string(page.substr(end));
}

const Command kBenchTable{"bench-table", "A table of what bench --device measured, as Markdown", add};

}  // namespace flashstep::cli
