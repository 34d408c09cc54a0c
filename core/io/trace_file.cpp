// Traces and kernel runs in the container of sections.h.
#include "core/io/trace_file.h"

#include <array>

#include "core/io/archive.h"
#include "core/io/file.h"
#include "core/io/trace_check.h"

namespace flashstep::io {
namespace {

constexpr std::string_view kTraceContent = "TRCE", kRunContent = "KRUN";
constexpr std::string_view kHead = "HEAD", kTensors = "TENS", kSteps = "STEP", kTouches = "TOUC", kVersions = "VERS",
                           kExprs = "EXPR", kValues = "VALU", kLifetimes = "LIFE";
constexpr std::string_view kTiles = "TILE", kBytes = "BYTE", kCounters = "CNTR";

template <typename T>
void put_items(SectionWriter& file, std::string_view tag, const std::vector<T>& items) {
    Writer writer;
    write_items(writer, items);
    file.section(tag, std::move(writer.out));
}

// Where each record of a file begins, for messages.
struct Places {
    std::array<std::vector<std::size_t>, 7> starts;
    std::vector<std::size_t>& of(Record record) { return starts[static_cast<std::size_t>(record)]; }
};

template <typename T>
void take_items(SectionReader& file, std::string_view tag, std::vector<T>& items, std::vector<std::size_t>* starts,
                std::string_view what) {
    Reader reader(file.section(tag));
    read_items(reader, items, starts, what);
    reader.in.expect_end(what);
}

// What the machine keeps while it records follows from the versions and the movements.
void rebuild(Trace& trace) {
    trace.history.assign(trace.tensors.size(), {});
    trace.byte_history.assign(trace.tensors.size(), {});
    for (std::size_t k = 0; k < trace.versions.size(); ++k) {
        const Version& version = trace.versions[k];
        const Tensor& tensor = trace.tensors[static_cast<std::size_t>(version.tensor)];
        std::size_t slot = 0;
        if (tensor.space == Space::Hbm)
            slot = static_cast<std::size_t>(version.copy) * static_cast<std::size_t>(tensor.blocks() + 1) +
                   static_cast<std::size_t>(version.block + 1);
        auto& lists = trace.history[static_cast<std::size_t>(version.tensor)];
        if (lists.size() <= slot) lists.resize(slot + 1);
        lists[slot].push_back(static_cast<int>(k));
    }
    std::vector<HbmBytes> totals(trace.tensors.size());
    for (int k = 0; k <= trace.last_step(); ++k) {
        const Step& step = trace.steps[static_cast<std::size_t>(k)];
        for (int m = step.touch_begin; m < step.touch_end; ++m) {
            const Touch& touch = trace.touches[static_cast<std::size_t>(m)];
            if (touch.kind == TouchKind::Read || touch.kind == TouchKind::Write) continue;
            HbmBytes& total = totals[static_cast<std::size_t>(touch.tensor)];
            (touch.kind == TouchKind::Load ? total.read : total.write) += touch.bytes;
            if (touch.kind == TouchKind::Init) total.init += touch.bytes;
            auto& history = trace.byte_history[static_cast<std::size_t>(touch.tensor)];
            if (history.empty() || history.back().first != k) history.emplace_back(k, HbmBytes{});
            history.back().second = total;
        }
    }
}

// Values of all versions, one after the other.
std::size_t place_values(Trace& trace) {
    std::size_t next = 0;
    for (Version& version : trace.versions) {
        version.offset = next;
        next += static_cast<std::size_t>(version.rows) * static_cast<std::size_t>(version.cols);
    }
    return next;
}

// Keys of a map stand in order, each once.
template <typename Map, typename Entry>
void put_next(Reader& reader, std::size_t at, Map& map, Entry&& entry) {
    if (!map.empty() && !(map.rbegin()->first < entry.first))
        reader.in.refuse(at, "expected a name after the one before it, found it out of order or twice");
    map.emplace_hint(map.end(), std::forward<Entry>(entry));
}

void take_tile(Reader& reader, std::map<SlotKey, Matrix>& tiles) {
    const std::size_t at = reader.in.offset();
    SlotKey key;
    std::int32_t rows = 0, cols = 0;
    reader(key, rows, cols);
    if (key.slot.empty() || key.head < 0 || key.i < -1 || key.j < -1)
        reader.in.refuse(at, fmt::format("expected a tile's name, head and indices, found '{}', {}, {}, {}", key.slot,
                                         key.head, key.i, key.j));
    const std::int64_t elements = std::int64_t{rows} * cols, most = static_cast<std::int64_t>(reader.in.left() / 8);
    if (rows < 0 || cols < 0 || elements > most)
        reader.in.refuse(at, fmt::format("expected a tile of at most {} elements, found {} x {}", most, rows, cols));
    Matrix tile(rows, cols);
    for (std::int64_t k = 0; k < elements; ++k) reader(tile.data()[k]);
    put_next(reader, at, tiles, std::pair(std::move(key), std::move(tile)));
}

// A mistake of flashstep, not of a file.
[[noreturn]] void refuse_own(const std::string& what) {
    throw Error(fmt::format("this trace cannot be saved: {}", what), "please report it");
}

}  // namespace

std::string trace_bytes(const Trace& trace) {
    static constexpr std::array kNames = {"head", "tensor", "step", "movement", "version", "expression", "lifetime"};
    check_trace(trace, [](Record record, std::size_t index, const std::string& what) {
        refuse_own(fmt::format("{} {}: {}", kNames[static_cast<std::size_t>(record)], index, what));
    });
    std::size_t next = 0;
    for (const Version& version : trace.versions) {
        if (version.offset != next) refuse_own("its values are not in the order of its versions");
        next += static_cast<std::size_t>(version.rows) * static_cast<std::size_t>(version.cols);
    }
    if (next != trace.values.size()) refuse_own("it holds values of no version");

    auto& [algorithm, problem, tensors, steps, touches, versions, exprs, values, memory, sram_peak, sram_modelled,
           history, lifetimes, byte_history] = trace;
    SectionWriter file(kTraceContent);
    Writer head;
    head(algorithm, problem, memory, sram_peak, sram_modelled);
    file.section(kHead, std::move(head.out));
    put_items(file, kTensors, tensors);
    put_items(file, kSteps, steps);
    put_items(file, kTouches, touches);
    put_items(file, kVersions, versions);
    put_items(file, kExprs, exprs);
    put_items(file, kValues, values);
    Writer lives;
    for (const auto& each : lifetimes) write_items(lives, each);
    file.section(kLifetimes, std::move(lives.out));
    return file.finish();
}

Trace parse_trace(std::string_view bytes, const std::string& name) {
    SectionReader file(bytes, name, kTraceContent);
    Trace trace;
    Places places;
    Reader head(file.section(kHead));
    places.of(Record::Head).push_back(head.in.offset());
    head(trace.algorithm, trace.problem, trace.memory, trace.sram_peak, trace.sram_modelled);
    head.in.expect_end("the head");
    take_items(file, kTensors, trace.tensors, &places.of(Record::Tensor), "tensors");
    take_items(file, kSteps, trace.steps, &places.of(Record::Step), "steps");
    take_items(file, kTouches, trace.touches, &places.of(Record::Touch), "movements");
    take_items(file, kVersions, trace.versions, &places.of(Record::Version), "versions");
    take_items(file, kExprs, trace.exprs, &places.of(Record::Expr), "expressions");
    Reader values(file.section(kValues));
    const std::size_t values_at = values.in.offset();
    read_items(values, trace.values, nullptr, "values");
    values.in.expect_end("the values");
    Reader lives(file.section(kLifetimes));
    trace.lifetimes.resize(trace.tensors.size());
    for (auto& each : trace.lifetimes) read_items(lives, each, &places.of(Record::Lifetime), "lifetimes");
    places.of(Record::Lifetime).push_back(lives.in.offset());
    lives.in.expect_end("the lifetimes");
    file.finish();

    check_trace(trace, [&](Record record, std::size_t index, const std::string& what) {
        head.in.refuse(places.of(record).at(index), what);
    });
    if (const std::size_t needed = place_values(trace); needed != trace.values.size())
        values.in.refuse(values_at, fmt::format("expected {} values, as many as the versions have elements, found {}",
                                                needed, trace.values.size()));
    rebuild(trace);
    return trace;
}

std::string kernel_run_bytes(const KernelRun& run) {
    // How often instructions ran is not kept.
    [[maybe_unused]] auto& [kernel, where, device, date, captured, hbm, counters, instructions] = run;
    SectionWriter file(kRunContent);
    Writer head;
    head(kernel, where, device, date);
    file.section(kHead, std::move(head.out));
    Writer tiles;
    tiles.out.u64(captured.size());
    for (const auto& [key, tile] : captured) {
        tiles(key, static_cast<std::int32_t>(tile.rows()), static_cast<std::int32_t>(tile.cols()));
        for (Eigen::Index k = 0; k < tile.size(); ++k) tiles(tile.data()[k]);
    }
    file.section(kTiles, std::move(tiles.out));
    Writer bytes;
    bytes.out.u64(hbm.size());
    for (const auto& [tensor, moved] : hbm) bytes(tensor, moved);
    file.section(kBytes, std::move(bytes.out));
    Writer counts;
    counts.out.u64(counters.size());
    for (const auto& [counter, count] : counters) counts(counter, count);
    file.section(kCounters, std::move(counts.out));
    return file.finish();
}

KernelRun parse_kernel_run(std::string_view bytes, const std::string& name) {
    SectionReader file(bytes, name, kRunContent);
    KernelRun run;
    Reader head(file.section(kHead));
    head(run.kernel, run.where, run.device, run.date);
    head.in.expect_end("the head");

    const auto entries = [&](std::string_view tag, std::size_t smallest, std::string_view what, const auto& read_one) {
        Reader reader(file.section(tag));
        const std::size_t count = reader.in.count(smallest, what);
        for (std::size_t k = 0; k < count; ++k) read_one(reader);
        reader.in.expect_end(what);
    };
    entries(kTiles, 24, "tiles", [&](Reader& reader) { take_tile(reader, run.captured); });
    entries(kBytes, 20, "byte counts", [&](Reader& reader) {
        const std::size_t at = reader.in.offset();
        std::pair<std::string, TensorBytes> entry;
        reader(entry.first, entry.second);
        if (entry.second.read < 0 || entry.second.write < 0)
            reader.in.refuse(at, fmt::format("expected bytes from 0 up, found {} read, {} written", entry.second.read,
                                             entry.second.write));
        put_next(reader, at, run.hbm, std::move(entry));
    });
    entries(kCounters, 12, "counters", [&](Reader& reader) {
        auto& [counter, count] = run.counters.emplace_back();
        reader(counter, count);
    });
    file.finish();
    return run;
}

void write_trace(const std::string& path, const Trace& trace) { write_file(path, trace_bytes(trace)); }
Trace read_trace(const std::string& path) { return parse_trace(read_file(path), path); }
void write_kernel_run(const std::string& path, const KernelRun& run) { write_file(path, kernel_run_bytes(run)); }
KernelRun read_kernel_run(const std::string& path) { return parse_kernel_run(read_file(path), path); }

}  // namespace flashstep::io
