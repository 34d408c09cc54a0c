// Looks a tensor's name up in the lines of a table.
#include "core/spelling.h"

#include <cctype>
#include <optional>

namespace flashstep {
namespace {

struct Names {
    std::string base, sub;  // "O", "_i" or "_{ij}"
};

// The tile of one warp is spelled as that of any: O_w3 as O_w.
Names names_of(std::string_view tensor) {
    const auto underscore = tensor.find('_');
    if (underscore == tensor.npos) return {std::string(tensor), ""};
    std::string sub(tensor.substr(underscore + 1));
    if (sub.size() > 1 && sub[0] == 'w') sub = "w";
    return {std::string(tensor.substr(0, underscore)), sub.size() == 1 ? "_" + sub : "_{" + sub + "}"};
}

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// The first or the last place in a line that names it, with its accent; nothing: the line does not.
std::optional<std::string> spelled_in(std::string_view line, const Names& names, Use use) {
    const std::string plain = names.base + names.sub, accented = "\\tilde{" + names.base + "}" + names.sub;
    std::optional<std::string> found;
    for (std::size_t k = 0; k < line.size(); ++k) {
        const std::string_view rest = line.substr(k);
        const bool fresh = k == 0 || (!is_letter(line[k - 1]) && line[k - 1] != '\\');
        if (rest.starts_with(accented))
            found = accented;
        else if (fresh && rest.starts_with(plain) &&
                 (rest.size() == plain.size() || (!is_letter(rest[plain.size()]) && rest[plain.size()] != '_')))
            found = plain;
        else
            continue;
        if (use == Use::Result) return found;
    }
    return found;
}

}  // namespace

std::string spelled(const Algorithm& algorithm, int line, std::string_view tensor, Use use) {
    const Names names = names_of(tensor);
    std::optional<std::string> above, below;
    for (const PseudoLine& pseudo : algorithm.lines) {
        const auto here = spelled_in(pseudo.en, names, pseudo.number == line ? use : Use::Result);
        if (!here) continue;
        if (pseudo.number == line) return *here;
        if (pseudo.number < line) above = here;
        if (pseudo.number > line && !below) below = here;
    }
    return above ? *above : below ? *below : names.base + names.sub;
}

}  // namespace flashstep
