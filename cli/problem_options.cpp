// From what was typed to a problem and its inputs.
#include "cli/problem_options.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "cli/names.h"
#include "cli/numbers.h"
#include "core/error.h"
#include "core/io/file.h"
#include "lab/presets.h"

namespace flashstep::cli {
namespace {

struct SizeOption {
    const char *name, *help;
    int most;
    int Problem::*field;
};

constexpr std::array kSizes = {
    SizeOption{"--n", "rows of Q (4)", kMaxRows, &Problem::n},
    SizeOption{"--nk", "rows of K and V (as --n)", kMaxRows, &Problem::nk},
    SizeOption{"--d", "columns of Q and K (3)", kMaxHeadDim, &Problem::d},
    SizeOption{"--dv", "columns of V and O (as --d)", kMaxHeadDim, &Problem::dv},
    SizeOption{"--br", "rows of a block of Q (2)", kMaxRows, &Problem::br},
    SizeOption{"--bc", "rows of a block of K and V (2)", kMaxRows, &Problem::bc},
    SizeOption{"--batch", "independent problems (1)", kMaxHeads, &Problem::batch},
    SizeOption{"--heads", "query heads (1)", kMaxHeads, &Problem::heads},
    SizeOption{"--kv-heads", "key/value heads, a divisor of --heads (1: all query heads share it)", kMaxHeads,
               &Problem::kv_heads},
};

// A matrix file and the sizes that it fixes.
struct FileOption {
    const char *name, *matrix, *help;
    const char *rows, *cols, *heads;
};

constexpr std::array kFiles = {
    FileOption{"--q", "Q", "Q from a .npy or .csv file, [N, d] or [batch, heads, N, d]", "--n", "--d", "--heads"},
    FileOption{"--k", "K", "K from a file", "--nk", "--d", "--kv-heads"},
    FileOption{"--v", "V", "V from a file", "--nk", "--dv", "--kv-heads"},
    FileOption{"--do", "dO", "the gradient dO from a file", "--n", "--dv", "--heads"},
    FileOption{"--x", "X", "scores X of the softmax algorithms from a file (tau Q K^T)", "--n", "--nk", "--heads"},
};

double default_scale(int d) { return 1 / std::sqrt(static_cast<double>(d)); }

constexpr std::array<std::string_view, 4> kFormats = {"exact", "fp32", "fp16", "bf16"};

// A size that an option or a file fixed, and how to say so.
struct Fixed {
    int value;
    std::string claim;  // "--n is 5"
};

class Sizes {
  public:
    void fix(const std::string& option, int value, const std::string& claim) {
        const auto [place, fresh] = fixed_.try_emplace(option, Fixed{value, claim});
        if (!fresh && place->second.value != value)
            throw Error(fmt::format("{}, but {}", place->second.claim, claim), fmt::format("{} has one value", option));
    }
    bool has(const std::string& option) const { return fixed_.contains(option); }
    int get(const std::string& option, int otherwise) const {
        const auto found = fixed_.find(option);
        return found == fixed_.end() ? otherwise : found->second.value;
    }

  private:
    std::map<std::string, Fixed> fixed_;
};

std::vector<Matrix>& matrices_of(Inputs& inputs, const std::string& name) {
    return name == "Q"    ? inputs.Q
           : name == "K"  ? inputs.K
           : name == "V"  ? inputs.V
           : name == "dO" ? inputs.dO
                          : inputs.X;
}

// What is odd about a file's values, in one line; empty if nothing is. -inf in X is a mask, not an oddity.
std::string oddities(const std::string& option, const io::TensorFile& file, DType dtype) {
    std::int64_t non_finite = 0, overflows = 0;
    std::string first;
    const auto note = [&](std::int64_t& count, std::size_t head, Eigen::Index r, Eigen::Index c, double value) {
        if (++count > 1 || !first.empty()) return;
        first = fmt::format("{} in row {}, column {}{}", value, r + 1, c + 1,
                            file.matrices.size() > 1 ? fmt::format(" of matrix {}", head + 1) : "");
    };
    for (std::size_t head = 0; head < file.matrices.size(); ++head)
        for (Eigen::Index r = 0; r < file.rows; ++r)
            for (Eigen::Index c = 0; c < file.cols; ++c) {
                const double value = file.matrices[head](r, c);
                if ((option == "--x" || option == "--mask") && value == -kInf) continue;
                if (!std::isfinite(value))
                    note(non_finite, head, r, c, value);
                else if (!std::isfinite(round_to(value, dtype)))
                    note(overflows, head, r, c, value);
            }
    if (non_finite > 0)
        return fmt::format("{} {} holds {} values that are not finite, first {}", option, io::quoted(file.path, 200),
                           non_finite, first);
    if (overflows > 0)
        return fmt::format("{} {} holds {} values that are infinite in {}, first {}", option,
                           io::quoted(file.path, 200), overflows, name(dtype), first);
    return {};
}

// [nk] (key padding) or [n, nk].
io::TensorFile read_mask(const std::string& path) {
    try {
        io::TensorFile file = io::read_tensor(path);
        if (file.batch * file.heads != 1)
            throw Error(fmt::format("{} holds {} matrices", io::quoted(path, 200), file.batch * file.heads),
                        "a mask is one matrix, the same for all heads");
        return file;
    } catch (const Error& error) { throw Error(fmt::format("--mask: {}", error.what()), error.hint()); }
}

bool fits(const Problem& problem, const Inputs& inputs) {
    try {
        validate(problem, inputs);
        return true;
    } catch (const Error&) { return false; }
}

}  // namespace

ProblemOptions::ProblemOptions(const Options& options) {
    const auto add = [&](const std::string& name, const char* type, const std::string& help) {
        options.problem(name, type, help, [this, name](const std::string& text) { typed(name, text); });
    };
    const auto add_switch = [&](const std::string& word, const std::string& help) {
        options.problem_switch(word, help, [this, word](bool on) { typed("--" + word, on ? "1" : "0"); });
    };
    add("--preset", "ID", "a named problem; options after it override it");
    for (const SizeOption& size : kSizes) add(size.name, "COUNT", size.help);
    add("--scale", "NUMBER", "tau (1/sqrt(d))");
    add_switch("causal", "mask keys that lie ahead (bottom-right)");
    add_switch("base2", "FlashAttention-2: exponentials as 2^x, log2(e) folded into the scale");
    add("--dtype", "FORMAT", "exact, fp32, fp16 or bf16 (fp32)");
    add("--seed", "NUMBER", "of the random inputs (1)");
    add("--sram", "BYTES",
        "capacity of the on-chip memory; picks the blocks by the papers' rule unless they are given (0: no limit)");
    for (const FileOption& file : kFiles) add(file.name, "FILE", file.help);
    add("--mask", "FILE", "added to the scaled scores: [n, nk], or [nk] for key padding; -inf hides a key");
}

void ProblemOptions::typed(const std::string& option, const std::string& text) {
    if (option == "--preset") {
        if (!find_preset(text)) throw unknown_name("preset", text, ids(presets()));
        for (const auto& [name, value] : given_) replaced_.push_back(name);
        for (const auto& [name, file] : files_) replaced_.push_back(file.option);
        given_.clear();
        files_.clear();
        if (mask_) replaced_.push_back("--mask");
        mask_.reset();
        preset_ = text;
        return;
    }
    if (option == "--mask") {
        mask_ = File{option, read_mask(text)};
        return;
    }
    for (const FileOption& file : kFiles)
        if (option == file.name) {
            try {
                files_.insert_or_assign(file.matrix, File{option, io::read_tensor(text)});
            } catch (const Error& error) { throw Error(fmt::format("{}: {}", option, error.what()), error.hint()); }
            return;
        }
    given_[option] = text;
}

std::optional<DType> ProblemOptions::only_dtype() const {
    if (!preset_.empty() || given_.size() != 1 || !files_.empty() || mask_) return std::nullopt;
    const auto& [option, text] = *given_.begin();
    if (option != "--dtype") return std::nullopt;
    const auto format = dtype_from_name(text);
    if (!format) throw unknown_name("--dtype", text, kFormats);
    return format;
}

Problem ProblemOptions::resolve_sizes(const Problem& otherwise, std::vector<std::string>& warnings) const {
    Sizes sizes;
    for (const SizeOption& size : kSizes)
        if (const auto found = given_.find(size.name); found != given_.end()) {
            const int value = static_cast<int>(whole_number(size.name, found->second, 1, size.most));
            sizes.fix(size.name, value, fmt::format("{} is {}", size.name, value));
        }
    for (const FileOption& option : kFiles) {
        const auto found = files_.find(option.matrix);
        if (found == files_.end()) continue;
        const io::TensorFile& file = found->second.content;
        const std::string who = fmt::format("{} {}", option.name, io::quoted(file.path, 200));
        sizes.fix(option.rows, file.rows, fmt::format("{} has {} rows", who, file.rows));
        sizes.fix(option.cols, file.cols, fmt::format("{} has {} columns", who, file.cols));
        sizes.fix("--batch", file.batch, fmt::format("{} has {} batch entries", who, file.batch));
        sizes.fix(option.heads, file.heads, fmt::format("{} has {} heads", who, file.heads));
    }

    MaskShape mask = MaskShape::None;
    if (mask_) {
        const io::TensorFile& file = mask_->content;
        const std::string who = fmt::format("--mask {}", io::quoted(file.path, 200));
        // A column is key padding, but for a single key, where it is the whole mask.
        const bool column = file.cols == 1 && file.rows > 1;
        const bool keys = column ? sizes.get("--nk", 0) != 1 : file.rows == 1;
        if (column && keys)
            sizes.fix("--nk", file.rows, fmt::format("{} has {} numbers", who, file.rows));
        else
            sizes.fix("--nk", file.cols, fmt::format("{} has {} columns", who, file.cols));
        if (!keys) sizes.fix("--n", file.rows, fmt::format("{} has {} rows", who, file.rows));
        mask = keys ? MaskShape::Keys : MaskShape::Scores;
    }

    const Preset* preset = preset_.empty() ? nullptr : find_preset(preset_);
    Problem p = preset ? preset->problem : otherwise;
    // What followed from another value keeps following it: K has as many rows as Q, V as many columns as K, tau is
    // 1/sqrt(d).
    const bool nk_follows = p.nk == p.n, dv_follows = p.dv == p.d, scale_follows = p.scale == default_scale(p.d);
    for (const SizeOption& size : kSizes) p.*size.field = sizes.get(size.name, p.*size.field);
    if (nk_follows && !sizes.has("--nk")) p.nk = p.n;
    if (dv_follows && !sizes.has("--dv")) p.dv = p.d;
    if (scale_follows) p.scale = default_scale(p.d);

    if (mask_) p.mask = mask;

    for (const auto& [option, text] : given_) {
        if (option == "--scale") p.scale = finite_number(option, text);
        if (option == "--causal") p.causal = text == "1";
        if (option == "--base2") p.base2 = text == "1";
        if (option == "--seed") p.seed = seed_number(option, text);
        if (option == "--sram") p.sram_bytes = whole_number(option, text, 0, std::numeric_limits<std::int64_t>::max());
        if (option == "--dtype") {
            const auto format = dtype_from_name(text);
            if (!format) throw unknown_name("--dtype", text, kFormats);
            p.dtype = *format;
        }
    }
    if (given_.contains("--sram") && p.sram_bytes > 0 && !preset) {
        const Blocks blocks = paper_blocks(p.sram_bytes / element_bytes(p.dtype), p.d);
        if (!sizes.has("--br")) p.br = blocks.br;
        if (!sizes.has("--bc")) p.bc = blocks.bc;
    }
    for (const std::string& option : replaced_)
        warnings.push_back(fmt::format("{} stands before --preset {} and is replaced by it", option, preset_));
    try {
        validate(p);
    } catch (const Error& error) {
        throw Error(fmt::format("--{}", error.what()), error.hint());  // its fields are called as the options are
    }
    return p;
}

Request ProblemOptions::resolve(Need need, const Problem& otherwise) const {
    Request request;
    request.problem = resolve_sizes(otherwise, request.warnings);
    const Problem& p = request.problem;
    for (const FileOption& option : kFiles)
        if (const auto found = files_.find(option.matrix); found != files_.end())
            if (std::string odd = oddities(option.name, found->second.content, p.dtype); !odd.empty())
                request.warnings.push_back(std::move(odd));
    if (mask_)
        if (std::string odd = oddities("--mask", mask_->content, p.dtype); !odd.empty())
            request.warnings.push_back(std::move(odd));
    if (need == Need::Sizes) return request;

    const double numbers =
        2.0 * p.total_heads() * p.n * (p.d + p.dv) + 2.0 * p.batch * p.kv_heads * p.nk * (p.d + p.dv);
    if (numbers > 2.0 * static_cast<double>(io::kMaxElements))
        throw Error(fmt::format("the inputs would hold {:.0f} numbers, the limit is {}", numbers / 2, io::kMaxElements),
                    "use a smaller problem, or `count`, which needs no inputs");
    // A preset's matrices stay as long as they fit and no other seed is asked for.
    const Preset* preset = preset_.empty() ? nullptr : find_preset(preset_);
    bool from_preset = false;
    if (preset && !given_.contains("--seed")) {
        request.inputs = preset->inputs(preset->problem);
        from_preset = fits(p, request.inputs);
        if (!from_preset && preset->inputs != make_inputs)
            request.warnings.push_back(
                fmt::format("the matrices of --preset {} do not fit these sizes; random ones are used", preset_));
    }
    if (!from_preset) request.inputs = make_inputs(p);
    for (const auto& [matrix, file] : files_) matrices_of(request.inputs, matrix) = file.content.matrices;
    if (mask_) {
        const Matrix& values = mask_->content.matrices.front();
        request.inputs.mask = p.mask == MaskShape::Keys && values.rows() > 1 ? Matrix(values.transpose()) : values;
    }
    validate(p, request.inputs);
    return request;
}

}  // namespace flashstep::cli
