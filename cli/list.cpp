// flashstep list: what there is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "core/algorithms.h"
#include "core/faults.h"
#include "gpu/registry.h"
#include "gpu/run.h"
#include "lab/presets.h"
#include "lessons/lessons.h"

namespace flashstep::cli {
namespace {

using io::Json;

// A number, or a text where the target is a variant: 90, "90a".
Json targets_json(const std::vector<gpu::Target>& targets) {
    Json json = Json::array();
    for (const gpu::Target target : targets)
        json.push_back(target.variant == 0 ? Json(target.arch) : Json(gpu::text(target)));
    return json;
}

Json list_json() {
    Json json = {{"algorithms", Json::array()},
                 {"kernels", Json::array()},
                 {"presets", Json::array()},
                 {"lessons", Json::array()},
                 {"faults", Json::array()}};
    for (const Algorithm& a : algorithms())
        json["algorithms"].push_back({{"id", std::string(a.id)}, {"title", std::string(a.title.en)}});
    for (const gpu::KernelInfo& k : gpu::kernels()) {
        Json row = {{"id", std::string(k.id)}, {"algorithm", std::string(k.algorithm)}, {"dtypes", Json::array()}};
        for (const DType dtype : k.dtypes) row["dtypes"].push_back(std::string(name(dtype)));
        row["d"] = k.head_dims.empty() ? Json("any") : Json(k.head_dims);
        row["most_d"] = k.most_head_dim > 0 ? Json(k.most_head_dim) : Json();
        for (const DType dtype : k.dtypes)
            row["targets"][std::string(name(dtype))] = targets_json(gpu::targets_of(k, dtype));
        json["kernels"].push_back(std::move(row));
    }
    for (const Preset& p : presets())
        json["presets"].push_back({{"id", std::string(p.id)}, {"title", std::string(p.title.en)}});
    for (const Lesson& l : lessons())
        json["lessons"].push_back({{"id", std::string(l.id)}, {"title", l.title.in(Language::English).text}});
    for (const Fault& f : faults())
        json["faults"].push_back({{"id", std::string(f.id)},
                                  {"title", std::string(f.title.en)},
                                  {"algorithm", std::string(f.algorithm)},
                                  {"line", f.line},
                                  {"preset", std::string(f.preset)}});
    return json;
}

// "sm_75, sm_80", or a line for each number format where they differ.
std::vector<std::string> targets_lines(const gpu::KernelInfo& k) {
    const auto all = [&](DType dtype) { return gpu::text(gpu::targets_of(k, dtype)); };
    const std::string own = all(k.dtypes.front());
    if (std::ranges::all_of(k.dtypes, [&](DType dtype) { return all(dtype) == own; })) return {own};
    std::vector<std::string> lines;
    for (const DType dtype : k.dtypes) lines.push_back(fmt::format("{} on {}", name(dtype), all(dtype)));
    return lines;
}

std::string list_page() {
    std::string page = "Algorithms (flashstep trace ID, flashstep count ID)\n";
    const auto row = [&](std::string_view id, std::string_view title) {
        page += fmt::format("  {:<26} {}\n", id, title);
    };
    for (const Algorithm& a : algorithms()) row(a.id, a.title.en);
    page += "\nKernels (flashstep check ID)\n";
    for (const gpu::KernelInfo& k : gpu::kernels()) {
        row(k.id, k.title.en);
        std::vector<std::string_view> formats;
        for (const DType dtype : k.dtypes) formats.push_back(name(dtype));
        page += fmt::format("  {:<26} mirror {}; {}; d {}\n", "", k.algorithm, fmt::join(formats, ", "),
                            k.most_head_dim > 0 ? fmt::format("up to {}", k.most_head_dim) : "any");
        for (const std::string& line : targets_lines(k)) row("", line);
    }
    page += "\nPresets (--preset ID)\n";
    for (const Preset& p : presets()) row(p.id, p.title.en);
    page += "\nLessons (flashstep lesson ID, or in the app)\n";
    for (const Lesson& l : lessons()) row(l.id, l.title.in(Language::English).text);
    page += "\nFaults (--fault ID of trace and check)\n";
    for (const Fault& f : faults()) {
        row(f.id, f.title.en);
        page += fmt::format("  {:<26} {} line {}; shows in preset {}; not seen: {}\n", "", f.algorithm, f.line,
                            f.preset, f.hides.en);
    }
    return page;
}

Action add(const Options& options, const Start&) {
    const auto json = std::make_shared<JsonOption>(options);
    return [json] {
        if (json->on())
            json->write(list_json());
        else
            print_page(list_page());
        return kOk;
    };
}

}  // namespace

const Command kList{"list", "Lists algorithms, kernels, presets, lessons and faults", add};

}  // namespace flashstep::cli
