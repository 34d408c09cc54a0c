// A small scanner: enough C++ for colours.
#include "viz/text/cuda_text.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "viz/shell/theme.h"

namespace flashstep::viz {
namespace {

constexpr std::array<std::string_view, 34> kKeywords = {
    "auto",  "bool",   "break",    "case",   "class",     "const",  "constexpr", "continue", "double",
    "else",  "enum",   "false",    "float",  "for",       "if",     "inline",    "int",      "namespace",
    "new",   "return", "sizeof",   "static", "struct",    "switch", "template",  "true",     "typename",
    "using", "void",   "volatile", "while",  "FS_KERNEL", "Global", "Shared"};

bool word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// "Q_all" is Q; what the theme knows no hue for is no tensor.
std::string_view tensor_of(std::string_view name) {
    if (tensor_style(name).family == Family::Other) return {};
    if (name.ends_with("_all")) name.remove_suffix(4);
    return name;
}

int indent_of(std::string_view line) {
    const std::size_t at = line.find_first_not_of(' ');
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

std::vector<CudaToken> scan(std::string_view line) {
    std::vector<CudaToken> tokens;
    std::size_t at = 0;
    const auto take = [&](TokenKind kind, std::size_t end, std::string_view tensor = {}) {
        const std::string_view text = line.substr(at, end - at);
        if (kind == TokenKind::Plain && !tokens.empty() && tokens.back().kind == kind)
            tokens.back().text = {tokens.back().text.data(), tokens.back().text.size() + text.size()};
        else
            tokens.push_back({kind, text, tensor});
        at = end;
    };
    while (at < line.size()) {
        const char c = line[at];
        if (line.substr(at).starts_with("//")) {
            take(TokenKind::Comment, line.size());
        } else if (c == '#') {
            take(TokenKind::Keyword, line.size());
        } else if (c == '"') {
            const std::size_t end = line.find('"', at + 1);
            take(TokenKind::Text, end == std::string_view::npos ? line.size() : end + 1);
        } else if (std::isdigit(static_cast<unsigned char>(c))) {
            std::size_t end = at;
            while (end < line.size() && (word(line[end]) || line[end] == '.')) ++end;
            take(TokenKind::Number, end);
        } else if (word(c)) {
            std::size_t end = at;
            while (end < line.size() && word(line[end])) ++end;
            const std::string_view name = line.substr(at, end - at), tensor = tensor_of(name);
            if (std::find(kKeywords.begin(), kKeywords.end(), name) != kKeywords.end())
                take(TokenKind::Keyword, end);
            else if (!tensor.empty())
                take(TokenKind::Tensor, end, tensor);
            else
                take(TokenKind::Plain, end);
        } else {
            take(TokenKind::Plain, at + 1);
        }
    }
    return tokens;
}

// Gives every source line the paper's lines that the nearest comment above names.
void mark(CudaText& text, const std::vector<std::string_view>& lines) {
    std::vector<int> now;
    int depth = -1;  // indentation of the comment that `now` comes from
    for (std::size_t k = 0; k < lines.size(); ++k) {
        const int indent = indent_of(lines[k]);
        const auto& tokens = text.lines[k];
        std::vector<int> named;
        if (!tokens.empty() && tokens.back().kind == TokenKind::Comment) named = lines_named(tokens.back().text);
        const bool own_line = !tokens.empty() && indent >= 0 && lines[k].substr(indent).starts_with("//");
        if (!named.empty() && !own_line) {  // behind code: this line alone, the block goes on as it was
            text.paper[k] = named;
            now.clear();
            continue;
        }
        if (!named.empty()) {
            now = named;
            depth = indent;
        } else if (indent >= 0 && indent < depth) {
            now.clear();
        }
        if (indent >= 0) text.paper[k] = now;
    }
}

}  // namespace

std::vector<int> lines_named(std::string_view comment) {
    std::size_t at = comment.find_first_not_of("/ ");
    if (at == std::string_view::npos) return {};
    comment.remove_prefix(at);
    const bool many = comment.starts_with("Lines ") || comment.starts_with("lines ");
    if (!many && !comment.starts_with("Line ") && !comment.starts_with("line ")) return {};
    comment.remove_prefix(many ? 6 : 5);
    std::vector<int> numbers;
    bool range = false;
    while (!comment.empty()) {
        int value = 0;
        std::size_t digits = 0;
        while (digits < comment.size() && digits < 4 && std::isdigit(static_cast<unsigned char>(comment[digits])))
            value = value * 10 + (comment[digits++] - '0');
        if (digits == 0) break;
        if (range && !numbers.empty())
            for (int n = numbers.back() + 1; n < value; ++n) numbers.push_back(n);
        numbers.push_back(value);
        comment.remove_prefix(digits);
        range = false;
        if (comment.starts_with(" to "))
            range = true, comment.remove_prefix(4);
        else if (comment.starts_with(", "))
            comment.remove_prefix(2);
        else if (comment.starts_with(" and "))
            comment.remove_prefix(5);
        else if (comment.starts_with("-"))
            range = true, comment.remove_prefix(1);
        else
            break;
    }
    return numbers;
}

CudaText read_cuda(std::string_view source) {
    CudaText text;
    text.source = source;
    std::vector<std::string_view> lines;
    while (!source.empty()) {
        const std::size_t end = source.find('\n');
        lines.push_back(source.substr(0, end));
        source.remove_prefix(end == std::string_view::npos ? source.size() : end + 1);
    }
    for (std::string_view line : lines) {
        text.lines.push_back(scan(line));
        text.longest = std::max(text.longest, static_cast<int>(line.size()));
    }
    text.paper.resize(lines.size());
    mark(text, lines);
    return text;
}

std::set<int> lines_for(const CudaText& text, int paper_line) {
    std::set<int> lines;
    for (int k = 0; k < static_cast<int>(text.paper.size()); ++k)
        if (std::ranges::find(text.paper[k], paper_line) != text.paper[k].end()) lines.insert(k);
    return lines;
}

}  // namespace flashstep::viz
