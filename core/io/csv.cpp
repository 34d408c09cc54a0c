// Matrices as text.
#include "core/io/csv.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "core/error.h"
#include "core/io/file.h"
#include "core/say.h"

namespace flashstep::io {
namespace {

constexpr std::string_view kSpace = " \t\r\f\v";

class CsvParser {
  public:
    explicit CsvParser(const std::string& name) : name_(name) {}

    Matrix parse(std::string_view text) {
        if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
        while (!text.empty()) {
            ++line_;
            std::string_view line = next_line(text);
            line = trimmed(line.substr(0, line.find('#')));
            if (!line.empty()) read_row(line);
        }
        if (rows_ == 0) throw Error(say("{}: no numbers in it", "{}：其中没有数值", name_));
        return Eigen::Map<const Matrix>(values_.data(), rows_, columns_);
    }

  private:
    [[noreturn]] void stop(std::int64_t column, const Sentence& what, Sentence hint = {}) const {
        throw Error(say("{}: line {}, column {}: {}", "{}：第 {} 行，第 {} 列：{}", name_, line_, column, what),
                    std::move(hint));
    }

    void read_row(std::string_view line) {
        if (const std::size_t at = line.find_first_of(",;"); at != std::string_view::npos) {
            if (separator_ == '\0') separator_ = line[at];
            if (line[at] != separator_ || line.find(separator_ == ',' ? ';' : ',') != std::string_view::npos)
                stop(1, {"commas and semicolons in one file", "同一文件中混用了逗号和分号"},
                     {"use a point in numbers and one separator", "小数点请用 .，分隔符只用一种"});
        }
        // Without a separator, white space separates.
        const bool spaced = separator_ == '\0';
        std::int64_t column = 0;
        while (true) {
            const std::size_t end = spaced ? line.find_first_of(kSpace) : line.find(separator_);
            const std::string_view cell = trimmed(line.substr(0, end));
            if (cell.empty())
                stop(column + 1, {"an empty cell", "空单元格"}, {"write a number, nan or inf", "请填数值、nan 或 inf"});
            values_.push_back(number(cell, ++column));
            if (static_cast<std::int64_t>(values_.size()) > kMaxElements)
                stop(column, say("more than {} numbers, the most that is read", "超过 {} 个数值，这是可读取的上限",
                                 kMaxElements));
            if (end == std::string_view::npos) break;
            line = spaced ? trimmed(line.substr(end)) : line.substr(end + 1);
        }
        if (rows_ == 0) columns_ = column;
        if (column != columns_)
            stop(std::min(column, columns_) + 1, say("the row has {} numbers, the first row has {}",
                                                     "该行有 {} 个数值，而首行有 {} 个", column, columns_));
        ++rows_;
    }

    double number(std::string_view text, std::int64_t column) const {
        std::string_view digits = text;
        if (digits.starts_with('+') && !digits.starts_with("+-")) digits.remove_prefix(1);
        double value = 0;
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (end != digits.data() + digits.size() || digits.empty() || error == std::errc::invalid_argument)
            stop(column, say("{} is not a number", "{} 不是数值", quoted(text)),
                 {"start a line of words with #", "文字行请以 # 开头"});
        if (error == std::errc::result_out_of_range) {
            // from_chars does not tell too small (that is 0, or the nearest subnormal) from too large.
            value = std::strtod(std::string(digits).c_str(), nullptr);
            if (std::abs(value) > 1)
                stop(column, say("{} is too large for a double", "{} 超出 double 的表示范围", quoted(text)),
                     {"write inf", "请写作 inf"});
        }
        return value;
    }

    const std::string& name_;
    std::int64_t line_ = 0, rows_ = 0, columns_ = 0;
    char separator_ = '\0';
    std::vector<double> values_;
};

}  // namespace

std::string_view trimmed(std::string_view text) {
    const std::size_t first = text.find_first_not_of(kSpace);
    return first == std::string_view::npos ? std::string_view()
                                           : text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

std::string_view next_line(std::string_view& text) {
    const std::size_t end = text.find_first_of("\r\n");
    const std::string_view line = text.substr(0, end);
    if (end == std::string_view::npos) {
        text = {};
    } else {
        text.remove_prefix(end + (text.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return line;
}

Matrix parse_csv(std::string_view text, const std::string& name) { return CsvParser(name).parse(text); }

Matrix read_csv(const std::string& path) { return parse_csv(read_file(path), path); }

}  // namespace flashstep::io
