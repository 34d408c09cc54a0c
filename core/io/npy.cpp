// NumPy's .npy files. Format: numpy.lib.format (magic, version, header length, a Python dict literal, the data).
#include "core/io/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <optional>

#include "core/error.h"
#include "core/io/file.h"
#include "core/matrix.h"
#include "core/say.h"

namespace flashstep::io {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kMaxHeader = 10000;  // NumPy's own limit
constexpr std::size_t kMaxDimensions = 32;
const Sentence kTypes{"f2, f4, f8, i1 to i8, u1 to u8 or b1", "f2、f4、f8、i1 到 i8、u1 到 u8 或 b1"};

struct Element {
    char kind = 'f';  // f, i, u, b
    int size = 8;
    bool swapped = false;  // the file's byte order is not this machine's
};

struct Header {
    std::optional<Element> element;
    std::optional<bool> fortran;
    std::optional<std::vector<std::int64_t>> shape;
};

// Reads the header's dict literal, of which only three entries may exist.
class HeaderParser {
  public:
    HeaderParser(std::string_view text, std::size_t offset, const std::string& name)
        : text_(text), offset_(offset), name_(name) {}

    Header parse() {
        Header header;
        expect('{');
        while (!accept('}')) {
            const std::string_view key = string();
            expect(':');
            const auto once = [&](bool seen) {
                if (seen) stop(fmt::format("entry {} appears twice", quoted(key)));
            };
            if (key == "descr") {
                once(header.element.has_value());
                header.element = element();
            } else if (key == "fortran_order") {
                once(header.fortran.has_value());
                header.fortran = boolean();
            } else if (key == "shape") {
                once(header.shape.has_value());
                header.shape = shape();
            } else {
                stop(say("entry {} is not one of 'descr', 'fortran_order', 'shape'",
                         "{} 不是 'descr'、'fortran_order'、'shape' 之一", quoted(key)));
            }
            if (!accept(',')) {
                expect('}');
                break;
            }
        }
        skip_space();
        if (at_ < text_.size()) stop({"text after the closing brace", "右花括号之后还有内容"});
        if (!header.element || !header.fortran || !header.shape)
            stop(
                {"one of 'descr', 'fortran_order', 'shape' is missing", "缺少 'descr'、'fortran_order'、'shape' 之一"});
        return header;
    }

  private:
    [[noreturn]] void stop(const Sentence& what) const {
        throw Error(say("{}: malformed .npy header at byte {}: {}", "{}：.npy 文件头在第 {} 字节处有误：{}", name_,
                        offset_ + at_, what));
    }
    void skip_space() {
        while (at_ < text_.size() && std::string_view(" \t\n\r\f\v").find(text_[at_]) != std::string_view::npos) ++at_;
    }
    bool accept(char c) {
        skip_space();
        if (at_ >= text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }
    void expect(char c) {
        if (accept(c)) return;
        stop(at_ < text_.size()
                 ? say("expected '{}', found {}", "此处应为 '{}'，却是 {}", c, quoted(text_.substr(at_, 1)))
                 : say("expected '{}', found its end", "此处应为 '{}'，文件头却已结束", c));
    }
    std::string_view string() {
        skip_space();
        const char quote = at_ < text_.size() ? text_[at_] : '\0';
        if (quote != '\'' && quote != '"') stop({"expected a string", "此处应为字符串"});
        const std::size_t end = text_.find(quote, at_ + 1);
        if (end == std::string_view::npos) stop({"a string without an end", "字符串没有结束"});
        const std::string_view found = text_.substr(at_ + 1, end - at_ - 1);
        at_ = end + 1;
        return found;
    }
    bool boolean() {
        skip_space();
        for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}})
            if (text_.substr(at_).starts_with(word)) {
                at_ += std::strlen(word);
                return value;
            }
        stop({"fortran_order has to be True or False", "fortran_order 须为 True 或 False"});
    }
    Element element() {
        skip_space();
        if (at_ < text_.size() && text_[at_] == '[')
            stop(say("structured dtype; it has to be {}", "不支持结构化 dtype，须为 {}", kTypes));
        const std::size_t start = at_;
        const std::string_view descr = string();
        std::string_view rest = descr;
        char order = '|';
        if (!rest.empty() && std::string_view("<>=|").find(rest[0]) != std::string_view::npos) {
            order = rest[0];
            rest.remove_prefix(1);
        }
        static constexpr std::array<std::string_view, 12> kKnown = {"f2", "f4", "f8", "i1", "i2", "i4",
                                                                    "i8", "u1", "u2", "u4", "u8", "b1"};
        if (std::find(kKnown.begin(), kKnown.end(), rest) == kKnown.end()) {
            at_ = start;
            stop(say("dtype {} is not supported; it has to be {}", "不支持 dtype {}，须为 {}", quoted(descr), kTypes));
        }
        const char foreign = std::endian::native == std::endian::little ? '>' : '<';
        return {.kind = rest[0], .size = rest[1] - '0', .swapped = order == foreign};
    }
    std::vector<std::int64_t> shape() {
        std::vector<std::int64_t> sizes;
        expect('(');
        while (!accept(')')) {
            sizes.push_back(size());
            if (sizes.size() > kMaxDimensions) stop(say("more than {} dimensions", "超过 {} 维", kMaxDimensions));
            if (!accept(',')) {
                expect(')');
                break;
            }
        }
        return sizes;
    }
    std::int64_t size() {
        skip_space();
        const std::size_t start = at_;
        std::int64_t value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            if (at_ - start >= 18) stop({"a size with more than 18 digits", "某一维的大小超过 18 位数字"});
            value = value * 10 + (text_[at_] - '0');
        }
        if (at_ == start) stop({"expected a size, a number from 0 up", "此处应为某一维的大小，即不小于 0 的整数"});
        if (at_ < text_.size() && text_[at_] == 'L') ++at_;  // Python 2 wrote long integers so
        return value;
    }

    std::string_view text_;
    std::size_t offset_;  // of the text in the file
    const std::string& name_;
    std::size_t at_ = 0;
};

template <std::unsigned_integral Bits>
Bits load(const char* at, bool swapped) {
    std::array<unsigned char, sizeof(Bits)> bytes;
    std::memcpy(bytes.data(), at, sizeof(Bits));
    if (swapped) std::reverse(bytes.begin(), bytes.end());
    return std::bit_cast<Bits>(bytes);
}

template <typename Signed, std::unsigned_integral Bits>
double integer(Bits bits, char kind) {
    return kind == 'i' ? static_cast<double>(std::bit_cast<Signed>(bits)) : static_cast<double>(bits);
}

double decode(const char* at, const Element& e) {
    switch (e.size) {
        case 1: {
            const auto bits = load<std::uint8_t>(at, false);
            return e.kind == 'b' ? (bits != 0 ? 1 : 0) : integer<std::int8_t>(bits, e.kind);
        }
        case 2: {
            const auto bits = load<std::uint16_t>(at, e.swapped);
            return e.kind == 'f' ? static_cast<double>(
                                       Eigen::half_impl::half_to_float(Eigen::half_impl::raw_uint16_to_half(bits)))
                                 : integer<std::int16_t>(bits, e.kind);
        }
        case 4: {
            const auto bits = load<std::uint32_t>(at, e.swapped);
            return e.kind == 'f' ? static_cast<double>(std::bit_cast<float>(bits))
                                 : integer<std::int32_t>(bits, e.kind);
        }
        default: {
            const auto bits = load<std::uint64_t>(at, e.swapped);
            return e.kind == 'f' ? std::bit_cast<double>(bits) : integer<std::int64_t>(bits, e.kind);
        }
    }
}

// Product of the sizes, or an error when it is over the limit. A size of 0 makes it 0 whatever the others are.
std::int64_t count_elements(const std::vector<std::int64_t>& shape, const std::string& name) {
    if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
    std::int64_t count = 1;
    for (const std::int64_t size : shape) {
        if (size > kMaxElements / count)
            throw Error(say("{}: shape {} has more than {} elements, the most that is read",
                            "{}：形状 {} 的元素超过 {} 个，这是可读取的上限", name, shape_text(shape), kMaxElements));
        count *= size;
    }
    return count;
}

}  // namespace

NpyArray parse_npy(std::string_view bytes, const std::string& name) {
    if (!bytes.starts_with(kMagic))
        throw Error(say("{}: not a .npy file (it does not start with \\x93NUMPY)",
                        "{}：不是 .npy 文件（开头不是 \\x93NUMPY）", name));
    if (bytes.size() < 10)
        throw Error(say("{}: truncated .npy header: {} bytes of at least 10",
                        "{}：.npy 文件头不完整：只有 {} 字节，至少应有 10", name, bytes.size()));
    const int major = static_cast<unsigned char>(bytes[6]), minor = static_cast<unsigned char>(bytes[7]);
    if (major < 1 || major > 3)
        throw Error(say("{}: .npy format version {}.{}; known are 1, 2 and 3",
                        "{}：.npy 格式版本为 {}.{}，只支持 1、2、3", name, major, minor));
    const std::size_t start = major == 1 ? 10 : 12;
    if (bytes.size() < start)
        throw Error(say("{}: truncated .npy header: {} bytes of at least {}",
                        "{}：.npy 文件头不完整：只有 {} 字节，至少应有 {}", name, bytes.size(), start));
    const bool swapped = std::endian::native == std::endian::big;
    const std::size_t length =
        major == 1 ? load<std::uint16_t>(bytes.data() + 8, swapped) : load<std::uint32_t>(bytes.data() + 8, swapped);
    if (length > kMaxHeader)
        throw Error(say("{}: .npy header of {} bytes; the limit is {}", "{}：.npy 文件头有 {} 字节，上限是 {}", name,
                        length, kMaxHeader));
    if (bytes.size() - start < length)
        throw Error(say("{}: truncated .npy header: {} bytes of {}", "{}：.npy 文件头不完整：只有 {} 字节，应有 {}",
                        name, bytes.size() - start, length));

    const Header header = HeaderParser(bytes.substr(start, length), start, name).parse();
    const Element element = *header.element;
    NpyArray array{.shape = *header.shape, .values = {}};
    const std::int64_t count = count_elements(array.shape, name);
    const std::string_view data = bytes.substr(start + length);
    const std::int64_t expected = count * element.size;
    if (static_cast<std::int64_t>(data.size()) != expected)
        throw Error(say("{}: {} data: shape {} of {}{} takes {} bytes, the file holds {} after its header",
                        "{}：数据{}：形状 {}、类型 {}{} 需要 {} 字节，文件头之后却有 {} 字节", name,
                        static_cast<std::int64_t>(data.size()) < expected ? Sentence("short", "不足")
                                                                          : Sentence("trailing", "多余"),
                        shape_text(array.shape), element.kind, element.size, expected, data.size()));

    array.values.resize(static_cast<std::size_t>(count));
    if (!*header.fortran || array.shape.size() < 2) {
        for (std::size_t k = 0; k < array.values.size(); ++k)
            array.values[k] = decode(data.data() + k * static_cast<std::size_t>(element.size), element);
        return array;
    }
    // Fortran order: the file's first index runs fastest. Walk it in file order and keep the place in C order.
    const std::size_t dims = array.shape.size();
    std::vector<std::int64_t> stride(dims, 1), index(dims, 0);
    for (std::size_t k = dims - 1; k > 0; --k) stride[k - 1] = stride[k] * array.shape[k];
    std::int64_t place = 0;
    for (std::int64_t k = 0; k < count; ++k) {
        array.values[static_cast<std::size_t>(place)] = decode(data.data() + k * element.size, element);
        for (std::size_t axis = 0; axis < dims; ++axis) {
            place += stride[axis];
            if (++index[axis] < array.shape[axis]) break;
            place -= stride[axis] * array.shape[axis];
            index[axis] = 0;
        }
    }
    return array;
}

NpyArray read_npy(const std::string& path) { return parse_npy(read_file(path), path); }

std::string shape_text(std::span<const std::int64_t> shape) {
    return shape.size() == 1 ? fmt::format("({},)", shape[0]) : fmt::format("({})", fmt::join(shape, ", "));
}

std::string npy_bytes(std::span<const std::int64_t> shape, std::span<const double> values) {
    std::string header = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape_text(shape));
    // The data starts at a multiple of 64 bytes; the header ends in a newline.
    header.append(63 - (kMagic.size() + 4 + header.size()) % 64, ' ');
    header += '\n';
    std::string bytes(kMagic);
    bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
    bytes += header;
    bytes.reserve(bytes.size() + values.size() * 8);
    for (const double value : values) {
        const auto bits = std::bit_cast<std::uint64_t>(value);
        for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
    }
    return bytes;
}

void write_npy(const std::string& path, std::span<const std::int64_t> shape, std::span<const double> values) {
    write_file(path, npy_bytes(shape, values));
}

}  // namespace flashstep::io
