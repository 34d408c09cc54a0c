// The .npy reader and writer: every dtype, order and version; malformed files give one clear line and never a crash.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <limits>
#include <random>

#include "core/error.h"
#include "core/io/file.h"
#include "core/io/npy.h"
#include "core/io/tensor_file.h"

using namespace flashstep;
using namespace flashstep::io;

namespace {

// A file with the given header dict and data.
std::string npy_file(const std::string& dict, const std::string& data, int major = 1) {
    const std::string header = dict + "\n";
    std::string bytes = "\x93NUMPY";
    bytes += {static_cast<char>(major), '\0'};
    for (int k = 0; k < (major == 1 ? 2 : 4); ++k) bytes += static_cast<char>(header.size() >> 8 * k & 0xff);
    return bytes + header + data;
}

std::string dict(const std::string& descr, const std::string& shape, const char* fortran = "False") {
    return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran, shape);
}

// The low `size` bytes of `bits` in the given byte order.
std::string word(std::uint64_t bits, int size, char order) {
    std::string bytes;
    for (int k = 0; k < size; ++k) bytes += static_cast<char>(bits >> 8 * (order == '>' ? size - 1 - k : k) & 0xff);
    return bytes;
}

std::string error_of(const std::string& bytes) {
    try {
        parse_npy(bytes, "x.npy");
    } catch (const Error& error) { return error.what(); }
    return "no error";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct TemporaryFolder {
    std::filesystem::path path;
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "flashstep_npy_XXXXXX").string();
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path = name;
    }
    ~TemporaryFolder() { std::filesystem::remove_all(path); }
    std::string file(const std::string& name) const { return (path / name).string(); }
};

}  // namespace

TEST_CASE("every number type is read in both byte orders") {
    struct Row {
        const char* type;
        int size;
        std::uint64_t bits;
        double value;
    };
    const Row rows[] = {
        {"f2", 2, 0x3e00, 1.5},
        {"f2", 2, 0xfbff, -65504},
        {"f2", 2, 0x0001, 0x1p-24},
        {"f4", 4, 0x40490fdb, 0x1.921fb6p1},
        {"f8", 8, 0x400921fb54442d18, 0x1.921fb54442d18p1},
        {"i1", 1, 0x80, -128},
        {"i2", 2, 0xfffe, -2},
        {"i4", 4, 0x80000000, -2147483648.0},
        {"i8", 8, 0xffffffffffffffff, -1},
        {"u1", 1, 0xff, 255},
        {"u2", 2, 0xfffe, 65534},
        {"u4", 4, 0x80000000, 2147483648.0},
        {"u8", 8, 0x8000000000000000, 0x1p63},
        {"b1", 1, 1, 1},
        {"b1", 1, 7, 1},
    };
    for (const Row& row : rows)
        for (const char order : {'<', '>'}) {
            CAPTURE(row.type);
            CAPTURE(order);
            const auto array = parse_npy(
                npy_file(dict(std::string(1, order) + row.type, "(1,)"), word(row.bits, row.size, order)), "x");
            REQUIRE(array.shape == std::vector<std::int64_t>{1});
            CHECK(array.values[0] == row.value);
        }
}

TEST_CASE("infinities and NaN are data") {
    for (const auto& [type, size, inf, nan] :
         {std::tuple{"<f2", 2, 0xfc00ull, 0x7e00ull}, std::tuple{"<f4", 4, 0xff800000ull, 0x7fc00000ull},
          std::tuple{"<f8", 8, 0xfff0000000000000ull, 0x7ff8000000000000ull}}) {
        const auto array = parse_npy(npy_file(dict(type, "(2,)"), word(inf, size, '<') + word(nan, size, '<')), "x");
        CHECK(array.values[0] == -std::numeric_limits<double>::infinity());
        CHECK(std::isnan(array.values[1]));
    }
}

TEST_CASE("Fortran order is read as the same array as C order") {
    // a[i][j][k] = 100 i + 10 j + k, shape (2, 3, 4)
    std::string c_order, fortran_order;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 4; ++k) c_order += word(static_cast<std::uint64_t>(100 * i + 10 * j + k), 2, '<');
    for (int k = 0; k < 4; ++k)
        for (int j = 0; j < 3; ++j)
            for (int i = 0; i < 2; ++i) fortran_order += word(static_cast<std::uint64_t>(100 * i + 10 * j + k), 2, '<');
    const auto c = parse_npy(npy_file(dict("<i2", "(2, 3, 4)"), c_order), "x");
    const auto f = parse_npy(npy_file(dict("<i2", "(2, 3, 4)", "True"), fortran_order), "x");
    CHECK(c.values[12] == 100);
    CHECK(c.values == f.values);
    CHECK(c.shape == f.shape);
}

TEST_CASE("versions 1, 2 and 3 and every way to write a header are read") {
    const std::string data = word(0x3ff0000000000000, 8, '<');
    for (const int major : {1, 2, 3})
        CHECK(parse_npy(npy_file(dict("<f8", "(1, 1)"), data, major), "x").values[0] == 1);
    for (const char* header : {"{'shape': (1,), 'fortran_order': True, 'descr': '<f8'}",
                               "{\"descr\":\"<f8\",\"fortran_order\":False,\"shape\":(1L,)}",
                               "{ 'descr' : '=f8' , 'fortran_order' : False , 'shape' : ( 1 ) , }",
                               "{'descr': 'f8', 'fortran_order': False, 'shape': ()}"})
        CHECK(parse_npy(npy_file(header, data), "x").values.size() == 1);
}

TEST_CASE("what is written is read back, bit by bit, and the data is aligned to 64 bytes") {
    const std::vector<double> values = {1.5,          -0.0,   1e-310, std::numeric_limits<double>::infinity(),
                                        std::nan(""), 1.0 / 3};
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{6}, {2, 3}, {1, 2, 3, 1}}) {
        const std::string bytes = npy_bytes(shape, values);
        CHECK((bytes.size() - values.size() * 8) % 64 == 0);
        const NpyArray array = parse_npy(bytes, "x");
        CHECK(array.shape == shape);
        REQUIRE(array.values.size() == values.size());
        for (std::size_t k = 0; k < values.size(); ++k)
            CHECK(std::bit_cast<std::uint64_t>(array.values[k]) == std::bit_cast<std::uint64_t>(values[k]));
    }
}

TEST_CASE("a malformed file gives one line that names the file, what is wrong and where") {
    const std::string data(48, '\0');
    const std::string good = npy_file(dict("<f8", "(2, 3)"), data);
    REQUIRE(error_of(good) == "no error");
    struct Row {
        std::string bytes, part;
    };
    const Row rows[] = {
        {"", "not a .npy file"},
        {"hello", "not a .npy file"},
        {std::string("PK\x03\x04"), "not a .npy file"},
        {good.substr(0, 6), "truncated .npy header: 6 bytes of at least 10"},
        {good.substr(0, 9), "truncated .npy header: 9 bytes of at least 10"},
        {good.substr(0, 40), "truncated .npy header: 30 bytes of"},
        {npy_file(dict("<f8", "(2, 3)"), data, 2).substr(0, 11), "at least 12"},
        {npy_file(dict("<f8", "(2, 3)"), data, 4), "version 4.0"},
        {npy_file(dict("<f8", "(2, 3)"), data, 0), "version 0.0"},
        {std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12), "header of 4294967295 bytes; the limit is 10000"},
        {good.substr(0, good.size() - 1), "short data: shape (2, 3) of f8 takes 48 bytes, the file holds 47"},
        {good + "x", "trailing data: shape (2, 3) of f8 takes 48 bytes, the file holds 49"},
        {npy_file(dict("<f8", "(4000000000, 4000000000)"), data), "more than 67108864 elements"},
        {npy_file(dict("<f8", "(999999999999999999,)"), data), "more than 67108864 elements"},
        {npy_file(dict("<f8", "(67108865,)"), data), "more than 67108864 elements"},
        {npy_file(dict("<f8", "(67108864,)"), data), "short data"},
        {npy_file(dict("<f8", "(99999999999999999999999,)"), data), "more than 18 digits"},
        {npy_file(dict("<f8", "(-2, 3)"), data), "expected a size"},
        {npy_file(dict("<f8", "(2.5, 3)"), data), "expected ')'"},
        {npy_file(dict("<f8", "[2, 3]"), data), "expected '('"},
        {npy_file(dict("<f8", "(2, 3"), data), "expected a size"},
        {npy_file(dict("<f8", "None"), data), "expected '('"},
        {npy_file(dict("<f8", "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)"), data),
         "more than 32 dimensions"},
        {npy_file(dict("|O", "(2, 3)"), data), "dtype '|O' is not supported; it has to be f2, f4"},
        {npy_file(dict("<c8", "(2, 3)"), data), "dtype '<c8' is not supported"},
        {npy_file(dict("<f16", "(2, 3)"), data), "dtype '<f16' is not supported"},
        {npy_file(dict("<f3", "(2, 3)"), data), "dtype '<f3' is not supported"},
        {npy_file(dict("<U8", "(2, 3)"), data), "dtype '<U8' is not supported"},
        {npy_file(dict("", "(2, 3)"), data), "dtype '' is not supported"},
        {npy_file("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2, 3)}", data), "structured dtype"},
        {npy_file(dict("<f8", "(2, 3)", "Maybe"), data), "True or False"},
        {npy_file("{'descr': '<f8', 'shape': (2, 3)}", data), "is missing"},
        {npy_file("{'descr': '<f8', 'descr': '<f8'}", data), "entry 'descr' appears twice"},
        {npy_file("{'descr': '<f8', 'evil': 1}", data), "entry 'evil' is not one of"},
        {npy_file("{'descr: <f8}", data), "a string without an end"},
        {npy_file("{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)} x", data), "text after the closing brace"},
        {npy_file("", data), "expected '{'"},
    };
    for (const Row& row : rows) {
        const std::string text = error_of(row.bytes);
        CAPTURE(text);
        CHECK(contains(text, "x.npy: "));
        CHECK(contains(text, row.part));
        CHECK(text.find('\n') == std::string::npos);
    }
    CHECK(contains(error_of(npy_file("{'de\n\tscr\x01': 1}", data)), "'de??scr?'"));
}

TEST_CASE("mutated .npy files are read or refused, never more") {
    const std::string base[] = {npy_file(dict("<f8", "(2, 3)"), std::string(48, '\x40')),
                                npy_file(dict(">i2", "(2, 2, 2)", "True"), std::string(16, '\x01'), 2),
                                npy_bytes(std::vector<std::int64_t>{1, 1, 2, 2}, std::vector<double>{1, 2, 3, 4})};
    std::mt19937 random(7);
    int read = 0, refused = 0;
    const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random()) % limit; };
    for (int round = 0; round < 20000; ++round) {
        std::string bytes = base[below(3)];
        for (std::size_t edits = 1 + below(4); edits > 0 && !bytes.empty(); --edits) {
            switch (below(5)) {
                case 0:
                    bytes[below(bytes.size())] = static_cast<char>(random());
                    break;
                case 1:
                    bytes.erase(below(bytes.size()), 1 + below(8));
                    break;
                case 2:
                    bytes.insert(below(bytes.size()), 1 + below(3), "0123456789,()'{}L<>"[below(19)]);
                    break;
                case 3:
                    bytes.resize(below(bytes.size() + 1));
                    break;
                default:
                    bytes[below(bytes.size())] ^= static_cast<char>(1 << below(8));
                    break;
            }
        }
        try {
            const NpyArray array = parse_npy(bytes, "x");
            CHECK(array.values.size() <= bytes.size());
            ++read;
        } catch (const Error&) { ++refused; }
    }
    CHECK(read > 100);
    CHECK(refused > 100);
}

TEST_CASE("a tensor file is a matrix, a column, or one matrix per head") {
    const TemporaryFolder folder;
    const std::vector<double> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    const auto write = [&](std::vector<std::int64_t> shape) {
        write_npy(folder.file("t.npy"), shape, values);
        return folder.file("t.npy");
    };
    const TensorFile flat = read_tensor(write({4, 3}));
    CHECK((flat.rows == 4 && flat.cols == 3 && flat.batch == 1 && flat.heads == 1 && !flat.has_heads));
    CHECK(flat.matrices[0](1, 0) == 4);
    const TensorFile column = read_tensor(write({12}));
    CHECK((column.rows == 12 && column.cols == 1));
    const TensorFile heads = read_tensor(write({1, 3, 2, 2}));
    CHECK((heads.has_heads && heads.batch == 1 && heads.heads == 3 && heads.matrices.size() == 3));
    CHECK(heads.matrices[2](1, 1) == 12);
    CHECK_THROWS_WITH_AS(read_tensor(write({2, 2, 3})),
                         doctest::Contains("it has to be (N, d), (N,) or (batch, heads, N, d)"), Error);
    write_npy(folder.file("t.npy"), std::vector<std::int64_t>{0, 3}, {});
    CHECK_THROWS_WITH_AS(read_tensor(folder.file("t.npy")), doctest::Contains("shape (0, 3) has no elements"), Error);
    write_file(folder.file("t.txt"), "1,2");
    CHECK_THROWS_WITH_AS(read_tensor(folder.file("t.txt")), doctest::Contains("has to end in .npy or .csv"), Error);
    CHECK_THROWS_WITH_AS(read_tensor(folder.file("none.npy")), doctest::Contains("No such file"), Error);
    CHECK_THROWS_WITH_AS(read_tensor(folder.path.string()), doctest::Contains("has to end in"), Error);
    std::filesystem::create_directory(folder.file("d.npy"));
    CHECK_THROWS_WITH_AS(read_tensor(folder.file("d.npy")), doctest::Contains("is a folder"), Error);
}

TEST_CASE("a tensor that is written per head is read back equal") {
    const TemporaryFolder folder;
    std::vector<Matrix> matrices;
    for (int head = 0; head < 6; ++head) matrices.push_back(Matrix::Random(3, 2));
    write_tensor(folder.file("t.npy"), matrices, 2, 3, Columns::Keep);
    const TensorFile back = read_tensor(folder.file("t.npy"));
    CHECK((back.batch == 2 && back.heads == 3 && back.has_heads));
    CHECK(back.matrices == matrices);
    write_tensor(folder.file("v.npy"), {Matrix::Ones(5, 1)}, 1, 1, Columns::AsVector);
    CHECK(read_npy(folder.file("v.npy")).shape == std::vector<std::int64_t>{5});
    CHECK_THROWS_WITH_AS(write_tensor(folder.file("no/t.npy"), matrices, 2, 3, Columns::Keep),
                         doctest::Contains("cannot write"), Error);
}
