// Placeholders in texts.
#include "viz/text/strings.h"

namespace flashstep::viz {

std::string fill(std::string_view text, std::initializer_list<Placeholder> values) {
    std::string out;
    while (!text.empty()) {
        const std::size_t open = text.find('{');
        out += text.substr(0, open);
        if (open == std::string_view::npos) break;
        text.remove_prefix(open);
        const std::size_t close = text.find('}');
        const std::string_view name = close == std::string_view::npos ? text : text.substr(1, close - 1);
        bool known = false;
        for (const auto& [key, value] : values) {
            if (close == std::string_view::npos || key != name) continue;
            out += value;
            text.remove_prefix(close + 1);
            known = true;
            break;
        }
        if (!known) {
            out += '{';
            text.remove_prefix(1);
        }
    }
    return out;
}

}  // namespace flashstep::viz
