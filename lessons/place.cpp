// Reading places and links, and finding them in a walk.
#include "lessons/place.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <vector>

#include "core/error.h"

namespace flashstep {
namespace {

// The words of a place: cut at spaces and commas that stand outside brackets.
std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    std::size_t begin = 0;
    int depth = 0;
    for (std::size_t k = 0; k <= text.size(); ++k) {
        if (k < text.size() && text[k] == '[') ++depth;
        if (k < text.size() && text[k] == ']') --depth;
        if (k < text.size() && (depth > 0 || (text[k] != ' ' && text[k] != ','))) continue;
        if (k > begin) words.push_back(text.substr(begin, k - begin));
        begin = k + 1;
    }
    return words;
}

// A count from 1, with nothing behind it.
int number_of(std::string_view digits, std::string_view whole) {
    int value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc{} || end != digits.data() + digits.size() || value < 1)
        throw Error(
            fmt::format("'{}' in '{}' is no number; lines, iterations, rows and columns count from 1", digits, whole));
    return value;
}

bool is_name(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

// Takes "key=value" into the link. False: no such key.
bool take_word(Link& link, Place& place, std::string_view key, std::string_view value, std::string_view whole) {
    if (key == "scene" && is_name(value))
        place.scene = value;
    else if (key == "line")
        place.line = number_of(value, whole);
    else if (key == "i")
        place.i = number_of(value, whole);
    else if (key == "j")
        place.j = number_of(value, whole);
    else if (key == "warp")
        place.w = number_of(value, whole);
    else if (key == "cell")
        link.cell = parse_cell(value);
    else if (key == "lesson" && is_name(value))
        link.lesson = value;
    else if (key == "preset" && is_name(value))
        link.preset = value;
    else
        return false;
    return true;
}

constexpr char kPlaceHint[] = "A place is start, end, or line=9 i=1 j=2, with scene=NAME where it is not main";

bool in_iteration(int asked, int index) { return asked == 0 || asked - 1 == index; }

bool is_at(const Step& step, const Place& place) {
    return step.line == place.line && in_iteration(place.i, step.i) && in_iteration(place.j, step.j) &&
           in_iteration(place.w, step.w);
}

// "i=1 j=2" of a step.
std::string iteration_text(const Step& step) {
    std::string text;
    const auto add = [&](const char* name, int index) {
        if (index >= 0) text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, index + 1);
    };
    add("i", step.i), add("j", step.j), add("warp", step.w);
    return text;
}

// The values of the block of a matrix, or the tile, that holds the cell, as of a step. -1: none.
double value_in(const Trace& trace, const CellName& cell, const Version& version) {
    if (cell.row >= version.rows || cell.col >= version.cols)
        throw Error(fmt::format("{} has {} x {} cells there", cell.tensor, version.rows, version.cols));
    return trace.value(version)(cell.row, cell.col);
}

[[noreturn]] void fail_no_tensor(const Trace& trace, const CellName& cell) {
    std::vector<std::string> names;
    for (const Tensor& tensor : trace.tensors)
        if (std::ranges::find(names, tensor.name) == names.end()) names.push_back(tensor.name);
    throw Error(fmt::format("{} knows no {}", trace.algorithm, cell.tensor),
                fmt::format("It has {}", fmt::join(names, ", ")));
}

double hbm_value(const Trace& trace, int tensor, const CellName& cell, int step) {
    const Tensor& t = trace.tensors[tensor];
    if (cell.row >= t.rows || cell.col >= t.cols)
        throw Error(fmt::format("{} has {} x {} cells", cell.tensor, t.rows, t.cols));
    const Trace::View view = trace.matrix_at(tensor, step, 0);
    if (!view.written(cell.row, cell.col))
        throw Error(fmt::format("{}[{},{}] is not yet written there", cell.tensor, cell.row + 1, cell.col + 1));
    return view.values(cell.row, cell.col);
}

}  // namespace

CellName parse_cell(std::string_view text) {
    const std::size_t open = text.find('[');
    if (open == std::string_view::npos || !text.ends_with(']') || !is_name(text.substr(0, open)))
        throw Error(fmt::format("'{}' is no cell", text), "A cell is S_ij[1,2], or m_i[2] of a column");
    const std::string_view inside = text.substr(open + 1, text.size() - open - 2);
    const std::size_t comma = inside.find(',');
    CellName cell{std::string(text.substr(0, open)), number_of(inside.substr(0, comma), text) - 1, 0};
    if (comma != std::string_view::npos) cell.col = number_of(inside.substr(comma + 1), text) - 1;
    return cell;
}

Link parse_link(std::string_view text) {
    Link link;
    Place place;
    for (const std::string_view word : words_of(text)) {
        const std::size_t equals = word.find('=');
        if (word == "start" || word == "end") {
            place.kind = word == "start" ? Place::Kind::Start : Place::Kind::End;
            link.place = place;
        } else if (equals == std::string_view::npos ||
                   !take_word(link, place, word.substr(0, equals), word.substr(equals + 1), text)) {
            throw Error(fmt::format("'{}' in '{}' is no part of a place", word, text), kPlaceHint);
        }
    }
    if (place.line > 0) place.kind = Place::Kind::Line;
    const bool opens = !link.lesson.empty() || !link.preset.empty();
    const bool says_iteration = place.i > 0 || place.j > 0 || place.w > 0;
    if ((place.line > 0) == link.place.has_value() && !opens)
        throw Error(fmt::format("'{}' says no place, or two", text), kPlaceHint);
    if ((opens && (place.line > 0 || link.place || link.cell)) || (place.line == 0 && says_iteration) ||
        (!link.lesson.empty() && !link.preset.empty()))
        throw Error(fmt::format("'{}' says two things at once", text), kPlaceHint);
    if (!opens) link.place = place;
    return link;
}

Place parse_place(std::string_view text) {
    const Link link = parse_link(text);
    if (!link.place || link.cell) throw Error(fmt::format("'{}' is no place", text), kPlaceHint);
    return *link.place;
}

std::string place_text(const Place& place) {
    std::string text = place.scene == "main" ? "" : "scene=" + place.scene + " ";
    if (place.kind != Place::Kind::Line) return text + (place.kind == Place::Kind::Start ? "start" : "end");
    text += fmt::format("line={}", place.line);
    if (place.i > 0) text += fmt::format(" i={}", place.i);
    if (place.j > 0) text += fmt::format(" j={}", place.j);
    if (place.w > 0) text += fmt::format(" warp={}", place.w);
    return text;
}

int step_at(const Trace& trace, const Place& place) {
    const auto [first, last] = trace.head_range(0);
    if (place.kind == Place::Kind::Start) return 0;
    if (place.kind == Place::Kind::End) return last;
    std::vector<int> found, of_line;
    for (int s = std::max(first, 1); s <= last; ++s) {
        if (trace.steps[s].line == place.line) of_line.push_back(s);
        if (is_at(trace.steps[s], place)) found.push_back(s);
    }
    if (found.size() == 1) return found.front();
    if (of_line.empty()) {
        std::set<int> lines;
        for (int s = std::max(first, 1); s <= last; ++s) lines.insert(trace.steps[s].line);
        throw Error(fmt::format("line {} of {} is not run", place.line, trace.algorithm),
                    fmt::format("Lines that are: {}", fmt::join(lines, ", ")));
    }
    std::vector<std::string> there;
    for (const int s : of_line) there.push_back(iteration_text(trace.steps[s]));
    const std::size_t all = there.size();
    there.resize(std::min<std::size_t>(all, 8));
    throw Error(
        fmt::format("{} is {} in {}", place_text(place),
                    found.empty() ? std::string("nowhere") : fmt::format("{} steps", found.size()), trace.algorithm),
        fmt::format("Line {} is run at {}{}", place.line, fmt::join(there, "; "), all > 8 ? "; ..." : ""));
}

double value_at(const Trace& trace, const CellName& cell, int step) {
    const int tile = trace.find(cell.tensor, Space::Sram), matrix = trace.find(cell.tensor, Space::Hbm);
    if (tile < 0 && matrix < 0) fail_no_tensor(trace, cell);
    const int version = tile < 0 ? -1 : trace.tile_at(tile, step);
    if (version >= 0) return value_in(trace, cell, trace.versions[version]);
    if (matrix < 0) throw Error(fmt::format("{} is not on chip there", cell.tensor));
    return hbm_value(trace, matrix, cell, step);
}

double last_value(const Trace& trace, const CellName& cell) {
    const int tile = trace.find(cell.tensor, Space::Sram), matrix = trace.find(cell.tensor, Space::Hbm);
    if (tile < 0 && matrix < 0) fail_no_tensor(trace, cell);
    if (matrix >= 0) return hbm_value(trace, matrix, cell, trace.head_range(0).second);
    const Version* last = nullptr;
    for (const Version& version : trace.versions) {
        const Step& step = trace.steps[version.step];
        if (version.tensor != tile || step.head != 0) continue;
        if (last && trace.steps[last->step].i != step.i)
            throw Error(fmt::format("{} is written for more than one i, and no place is said", cell.tensor),
                        fmt::format("Say which: {}[{},{}] @ line={} i={}", cell.tensor, cell.row + 1, cell.col + 1,
                                    step.line, step.i + 1));
        last = &version;
    }
    if (!last) throw Error(fmt::format("{} is never written", cell.tensor));
    return value_in(trace, cell, *last);
}

}  // namespace flashstep
