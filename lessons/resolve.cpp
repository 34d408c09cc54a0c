// References in lesson texts: every number comes from a trace.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "core/algorithms.h"
#include "core/error.h"
#include "lessons/lessons.h"

namespace flashstep {
namespace {

// One reference, read from left to right.
class Reader {
  public:
    explicit Reader(std::string_view text) : rest_(text), whole_(text) {}
    bool take(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token)) fail(fmt::format("'{}' is missing", token));
    }
    std::string_view name() {
        std::size_t n = 0;
        while (n < rest_.size() && (std::isalnum(static_cast<unsigned char>(rest_[n])) || rest_[n] == '_')) ++n;
        if (n == 0) fail("a name is missing");
        const std::string_view found = rest_.substr(0, n);
        rest_.remove_prefix(n);
        return found;
    }
    int number() {
        int value = 0;
        std::size_t n = 0;
        for (; n < rest_.size() && n < 9 && std::isdigit(static_cast<unsigned char>(rest_[n])); ++n)
            value = value * 10 + rest_[n] - '0';
        if (n == 0) fail("a number is missing");
        rest_.remove_prefix(n);
        return value;
    }
    bool at_end() const { return rest_.empty(); }
    [[noreturn]] void fail(const std::string& why) const {
        throw Error(fmt::format("lesson reference {{{{{}}}}}: {}", whole_, why));
    }

  private:
    std::string_view rest_, whole_;
};

struct Cell {
    std::string_view tensor;
    int row = 0, col = 0;  // from 0
};

Cell read_cell(Reader& reader) {
    Cell cell{reader.name(), 0, 0};
    reader.expect("[");
    cell.row = reader.number() - 1;
    if (reader.take(",")) cell.col = reader.number() - 1;
    reader.expect("]");
    return cell;
}

// "@i=1,j=2", "@i=1" or nothing: -1 where not given.
struct Place {
    int i = -1, j = -1;
};

Place read_place(Reader& reader) {
    Place place;
    if (reader.take("@")) {
        do {
            const bool is_i = reader.take("i=");
            if (!is_i) reader.expect("j=");
            (is_i ? place.i : place.j) = reader.number() - 1;
        } while (reader.take(","));
    }
    if (!reader.at_end()) reader.fail("cannot be read to its end");
    return place;
}

double value_of(const Trace& trace, const Cell& cell, const Place& place, const Reader& reader) {
    const int hbm = trace.find(cell.tensor, Space::Hbm), tile = trace.find(cell.tensor, Space::Sram);
    if (hbm < 0 && tile < 0) reader.fail("the trace has no such tensor");
    if (hbm >= 0) {
        const Trace::View view = trace.matrix_at(hbm, trace.last_step(), 0);
        if (cell.row < 0 || cell.row >= view.values.rows() || cell.col < 0 || cell.col >= view.values.cols())
            reader.fail("there is no such cell");
        if (!view.written(cell.row, cell.col)) reader.fail("the cell is never written");
        return view.values(cell.row, cell.col);
    }
    const Version* last = nullptr;
    for (const Version& version : trace.versions) {
        const Step& step = trace.steps[version.step];
        if (version.tensor == tile && step.head == 0 && step.i == place.i && step.j == place.j) last = &version;
    }
    if (!last) reader.fail("the tile is never written there");
    if (cell.row < 0 || cell.row >= last->rows || cell.col < 0 || cell.col >= last->cols)
        reader.fail("there is no such cell");
    return trace.value(*last)(cell.row, cell.col);
}

std::string number_text(double value, bool in_formula) {
    if (std::isnan(value)) return "NaN";
    const std::string minus = in_formula ? "-" : "−";
    const std::string size =
        std::isinf(value) ? (in_formula ? "\\infty" : "∞") : fmt::format("{:.3g}", std::abs(value));
    return value < 0 ? minus + size : size;
}

std::string bytes_text(const Trace& trace, Reader& reader) {
    HbmBytes sum;
    if (reader.take("standard")) {
        const Traffic traffic = count(*find_algorithm("standard_attention"), trace.problem).traffic;
        sum = {traffic.hbm_read, traffic.hbm_write, 0};
    } else if (reader.take("all")) {
        sum = {trace.steps.back().total.hbm_read, trace.steps.back().total.hbm_write, 0};
    } else {
        const int tensor = trace.find(reader.name(), Space::Hbm);
        if (tensor < 0) reader.fail("the trace has no such matrix in HBM");
        sum = trace.hbm_bytes(tensor, trace.last_step());
    }
    std::int64_t bytes = sum.read + sum.write;
    if (reader.take(".read")) bytes = sum.read;
    if (reader.take(".write")) bytes = sum.write;
    if (!reader.at_end()) reader.fail("cannot be read to its end");
    return fmt::format("{}", bytes);
}

std::string resolve_one(std::string_view reference, const Trace& trace, bool in_formula) {
    Reader reader(reference);
    if (reader.take("bytes:")) return bytes_text(trace, reader);
    if (reader.take("steps")) return fmt::format("{}", trace.last_step());
    if (reader.take("exp(")) {  // e^(a - b) of two cells of the same place
        const Cell a = read_cell(reader);
        reader.expect(" - ");
        const Cell b = read_cell(reader);
        reader.expect(")");
        const Place place = read_place(reader);
        return number_text(std::exp(value_of(trace, a, place, reader) - value_of(trace, b, place, reader)), in_formula);
    }
    const Cell cell = read_cell(reader);
    return number_text(value_of(trace, cell, read_place(reader), reader), in_formula);
}

}  // namespace

std::string resolve_text(std::string_view text, const Trace& trace) {
    std::string result;
    bool in_formula = false;
    while (!text.empty()) {
        if (text.starts_with("{{") && !text.starts_with("{{{")) {
            const std::size_t end = text.find("}}");
            if (end == std::string_view::npos)
                throw Error(fmt::format("lesson reference without an end: {}", text.substr(0, 40)));
            result += resolve_one(text.substr(2, end - 2), trace, in_formula);
            text.remove_prefix(end + 2);
            continue;
        }
        if (text.front() == '$') in_formula = !in_formula;
        result += text.front();
        text.remove_prefix(1);
    }
    return result;
}

}  // namespace flashstep
