// The rows: what each opcode computes, for one lane. Included by lanes_any.cpp and lanes_avx2.cpp, each in a namespace
// of its own. Nothing from the standard library is called but what the compiler knows by itself: a function that both
// made could be taken from the wrong one.

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s8 = std::int8_t;
using s16 = std::int16_t;
using s32 = std::int32_t;
using s64 = std::int64_t;
using f32 = float;
using f64 = double;

namespace {

template <class To, class From>
inline To bits_as(From from) {
    return __builtin_bit_cast(To, from);
}

// ---- how numbers lie in registers

template <class T>
struct Form {  // up to 32 bits: in 4 bytes, the upper ones zero
    using Word [[gnu::may_alias]] = u32;
    static constexpr Width width = sizeof(T) == 4 ? Width::B32 : Width::B16;
    static T load(const std::byte* at, int lane) {
        const u32 word = reinterpret_cast<const Word*>(at)[lane];
        if constexpr (sizeof(T) == 4) {
            return bits_as<T>(word);
        } else {
            return static_cast<T>(word);
        }
    }
    static void store(std::byte* at, int lane, T value) {
        if constexpr (sizeof(T) == 4) {
            reinterpret_cast<Word*>(at)[lane] = bits_as<u32>(value);
        } else {
            reinterpret_cast<Word*>(at)[lane] = static_cast<u16>(value);
        }
    }
};
template <class T>
requires(sizeof(T) == 8) struct Form<T> {
    using Word [[gnu::may_alias]] = T;
    static constexpr Width width = Width::B64;
    static T load(const std::byte* at, int lane) { return reinterpret_cast<const Word*>(at)[lane]; }
    static void store(std::byte* at, int lane, T value) { reinterpret_cast<Word*>(at)[lane] = value; }
};
template <>
struct Form<bool> {
    using Word [[gnu::may_alias]] = u32;
    static constexpr Width width = Width::Pred;
    static bool load(const std::byte* at, int lane) { return (*reinterpret_cast<const Word*>(at) >> lane & 1) != 0; }
};

// ---- a function of one lane over all of them

template <class R, class F>
[[gnu::always_inline]] inline void for_lanes(Warp& w, std::byte* d, F value) {
    if constexpr (__is_same(R, bool)) {
        u32 set = 0;
        for (int lane = 0; lane < kLanes; ++lane) set |= u32{value(lane)} << lane;
        using Word [[gnu::may_alias]] = u32;
        Word& mask = *reinterpret_cast<Word*>(d);
        mask = (mask & ~w.active) | (set & w.active);
    } else if (w.active == kAllLanes) {
        // A lane's result depends on that lane's operands only: registers are the same one or apart.
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
        for (int lane = 0; lane < kLanes; ++lane) Form<R>::store(d, lane, value(lane));
    } else {
        R result[kLanes];
        for (int lane = 0; lane < kLanes; ++lane) result[lane] = value(lane);
        for (u32 left = w.active; left != 0; left &= left - 1) {
            const int lane = __builtin_ctz(left);
            Form<R>::store(d, lane, result[lane]);
        }
    }
}

template <class F, class R, class... A>
struct Row;
template <class F, class R, class A>
struct Row<F, R, A> {
    static void run(Warp& w, const Instr& i) {
        const std::byte* a = w.registers + i.a;
        for_lanes<R>(w, w.registers + i.d, [&](int lane) { return F{}(Form<A>::load(a, lane)); });
    }
};
template <class F, class R, class A, class B>
struct Row<F, R, A, B> {
    static void run(Warp& w, const Instr& i) {
        const std::byte *a = w.registers + i.a, *b = w.registers + i.b;
        for_lanes<R>(w, w.registers + i.d,
                     [&](int lane) { return F{}(Form<A>::load(a, lane), Form<B>::load(b, lane)); });
    }
};
template <class F, class R, class A, class B, class C>
struct Row<F, R, A, B, C> {
    static void run(Warp& w, const Instr& i) {
        const std::byte *a = w.registers + i.a, *b = w.registers + i.b, *c = w.registers + i.c;
        for_lanes<R>(w, w.registers + i.d, [&](int lane) {
            return F{}(Form<A>::load(a, lane), Form<B>::load(b, lane), Form<C>::load(c, lane));
        });
    }
};

template <class F, class R, class A, class B, class C, class E>
struct Row<F, R, A, B, C, E> {
    static void run(Warp& w, const Instr& i) {
        const std::byte *a = w.registers + i.a, *b = w.registers + i.b, *c = w.registers + i.c,
                        *e = w.registers + i.fourth;
        for_lanes<R>(w, w.registers + i.d, [&](int lane) {
            return F{}(Form<A>::load(a, lane), Form<B>::load(b, lane), Form<C>::load(c, lane), Form<E>::load(e, lane));
        });
    }
};

// ---- what the rows compute

constexpr u32 kNan32 = 0x7fffffffu;

inline f32 flush(f32 x) {
    const u32 bits = bits_as<u32>(x);
    return bits_as<f32>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}
inline f32 saturated(f32 x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }  // of NaN 0

template <class T>
inline T pick(bool take_first, T first, T second) {
    return take_first ? first : second;
}
// The larger; of a number and NaN the number, of two NaNs the canonical one; -0 is less than +0.
inline f32 largest(f32 a, f32 b) {
    const u32 equal = bits_as<u32>(a) & bits_as<u32>(b);
    const u32 larger = a > b ? bits_as<u32>(a) : b > a ? bits_as<u32>(b) : equal;
    const u32 a_nan = b == b ? bits_as<u32>(b) : kNan32;
    return bits_as<f32>(a != a ? a_nan : b != b ? bits_as<u32>(a) : larger);
}
inline f32 smallest(f32 a, f32 b) {
    const u32 equal = bits_as<u32>(a) | bits_as<u32>(b);
    const u32 smaller = a < b ? bits_as<u32>(a) : b < a ? bits_as<u32>(b) : equal;
    const u32 a_nan = b == b ? bits_as<u32>(b) : kNan32;
    return bits_as<f32>(a != a ? a_nan : b != b ? bits_as<u32>(a) : smaller);
}
inline f32 nan_if_any(f32 a, f32 b, f32 value) { return a != a || b != b ? bits_as<f32>(kNan32) : value; }

// a b + c, rounded once in the given direction: the product is exact in double, and so is what its sum with c lost.
enum class Towards { Minus, Plus, Zero };
template <Towards towards>
inline f32 fma_towards(f32 a, f32 b, f32 c) {
    const f64 product = f64{a} * f64{b}, addend = c;
    const f64 sum = product + addend;
    const f64 of_addend = sum - product;
    const f64 lost = (product - (sum - of_addend)) + (addend - of_addend);
    const f32 nearest = static_cast<f32>(sum);
    const u32 bits = bits_as<u32>(nearest);
    const f64 value = nearest;
    const bool above = value > sum || (value == sum && lost < 0), below = value < sum || (value == sum && lost > 0);
    const bool negative = towards == Towards::Zero ? sum < 0 : towards == Towards::Plus;
    const bool wrong = negative ? below : above;  // rounds up where it is negative for Zero, everywhere for Plus
    // The neighbour: one step down in value, or up.
    const u32 step_down = bits == 0 ? 0x80000001u : (bits >> 31) != 0 ? bits + 1 : bits - 1;
    const u32 step_up = bits == 0x80000000u ? 1u : (bits >> 31) != 0 ? bits - 1 : bits + 1;
    u32 result = wrong ? (negative ? step_up : step_down) : bits;
    // An exact zero of two different signs is -0 downwards and +0 otherwise.
    if (towards == Towards::Minus && sum == 0 && lost == 0 && (bits_as<u64>(product) ^ bits_as<u64>(addend)) >> 63 != 0)
        result = 0x80000000u;
    return sum - sum == 0 ? bits_as<f32>(result) : nearest;  // infinite and NaN stay
}

// 2^x to the last bit but one or so: the device's approximation is not better than 2 ulp.
inline f32 power_of_two(f32 x) {
    const f64 limited = x > 200.0f ? 200.0 : x < -200.0f ? -200.0 : f64{x};
    constexpr f64 magic = 0x1.8p52;
    const f64 shifted = limited + magic;
    const f64 r = (limited - (shifted - magic)) * 0x1.62e42fefa39efp-1;  // times ln 2; |r| <= 0.35
    f64 p = 1.0 / 362880.0;
    p = p * r + 1.0 / 40320.0;
    p = p * r + 1.0 / 5040.0;
    p = p * r + 1.0 / 720.0;
    p = p * r + 1.0 / 120.0;
    p = p * r + 1.0 / 24.0;
    p = p * r + 1.0 / 6.0;
    p = p * r + 0.5;
    p = p * r + 1.0;
    p = p * r + 1.0;
    const f64 scaled = bits_as<f64>(bits_as<u64>(p) + (bits_as<u64>(shifted) << 52));
    return x != x ? bits_as<f32>(kNan32) : static_cast<f32>(scaled);
}

inline f32 from_half(u16 bits) {
    const u32 magnitude = bits & 0x7fffu;
    const f32 scaled = bits_as<f32>(magnitude << 13) * 0x1p112f;
    const u32 special = magnitude >= 0x7c00 ? 0x7f800000u : 0u;
    return bits_as<f32>(bits_as<u32>(scaled) | special | u32{bits & 0x8000u} << 16);
}
inline f32 from_bfloat(u16 bits) { return bits_as<f32>(u32{bits} << 16); }
inline u16 to_half(f32 x) {  // to nearest, ties to even; NaN is 0x7fff
    const u32 u = bits_as<u32>(x), magnitude = u & 0x7fffffff, sign = u >> 16 & 0x8000;
    const u32 small = bits_as<u32>(bits_as<f32>(magnitude) + 0.5f) - 0x3f000000;
    const u32 rebased = magnitude - (112u << 23);
    const u32 normal = (rebased + 0xfff + (rebased >> 13 & 1)) >> 13;
    const u32 finite = magnitude < 0x38800000 ? small : normal;
    const u32 value = magnitude >= 0x47800000 ? 0x7c00 : finite;
    return static_cast<u16>(magnitude > 0x7f800000 ? 0x7fff : sign | value);
}
inline u16 to_bfloat(f32 x) {
    const u32 u = bits_as<u32>(x);
    return static_cast<u16>((u & 0x7fffffff) > 0x7f800000 ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16);
}

// To a whole number of type T: what does not fit is the nearest that does, NaN is 0.
template <class T, class F>
inline T whole(F x) {
    constexpr bool is_signed = static_cast<T>(-1) < 0;
    constexpr int bits = 8 * sizeof(T) - (is_signed ? 1 : 0);
    constexpr T most = static_cast<T>(~u64{0} >> (64 - bits));
    constexpr F above = static_cast<F>(2) * static_cast<F>(u64{1} << (bits - 1));
    if (x != x) return 0;
    if (x >= above) return most;
    if constexpr (is_signed) {
        if (x < -above) return static_cast<T>(-most - 1);
    } else {
        if (x <= -1) return 0;
    }
    return static_cast<T>(x);
}

template <class T>
inline T shift_left(T x, u32 by) {
    return by >= 8 * sizeof(T) ? T{0} : static_cast<T>(x << by);
}
// Of signed numbers the sign stays, of unsigned ones zeros come in; by more than the width as by the width.
template <class T>
inline T shift_right(T x, u32 by) {
    constexpr u32 width = 8 * sizeof(T);
    constexpr bool is_signed = static_cast<T>(-1) < 0;
    if constexpr (is_signed) {
        return static_cast<T>(x >> (by >= width ? width - 1 : by));
    } else {
        return by >= width ? T{0} : static_cast<T>(x >> by);
    }
}
// By zero: all ones, which is what devices give; PTX leaves it open. Lanes that are not at work divide rubbish.
template <class T>
inline T quotient(T a, T b) {
    if (b == 0) return static_cast<T>(~T{0});
    if constexpr (static_cast<T>(-1) < 0) {
        if (b == -1) return static_cast<T>(u64{0} - static_cast<u64>(a));
    }
    return static_cast<T>(a / b);
}
template <class T>
inline T remainder(T a, T b) {
    if (b == 0) return a;
    if constexpr (static_cast<T>(-1) < 0) {
        if (b == -1) return 0;
    }
    return static_cast<T>(a % b);
}
template <class T>
inline T high_half(T a, T b) {
    if constexpr (sizeof(T) == 8) {
        __extension__ using wide_s = __int128;
        __extension__ using wide_u = unsigned __int128;
        if constexpr (static_cast<T>(-1) < 0) {
            return static_cast<T>(wide_s{a} * b >> 64);
        } else {
            return static_cast<T>(wide_u{a} * b >> 64);
        }
    } else if constexpr (static_cast<T>(-1) < 0) {
        return static_cast<T>(s64{a} * s64{b} >> 32);
    } else {
        return static_cast<T>(u64{a} * u64{b} >> 32);
    }
}
// The lower `length` bits of a, put into b from `start` on. Position and length count to 255; what leaves the word is
// lost.
template <class T>
inline T inserted(T a, T b, u32 start, u32 length) {
    constexpr u32 kBits = 8 * sizeof(T);
    start &= 0xff, length &= 0xff;
    if (start >= kBits || length == 0) return b;
    const T mask = (length >= kBits ? ~T{0} : (T{1} << length) - 1) << start;
    return (b & ~mask) | (a << start & mask);
}
template <class T>
inline T extracted(T a, u32 start, u32 length) {
    constexpr bool is_signed = static_cast<T>(-1) < 0;
    start &= 0xff, length &= 0xff;
    const u64 wide = is_signed ? static_cast<u64>(static_cast<s64>(static_cast<s32>(a))) : u64{static_cast<u32>(a)};
    if (length == 0) return 0;
    if (start > 31) return is_signed && static_cast<s32>(a) < 0 ? static_cast<T>(~T{0}) : T{0};
    if (length > 32) length = 32;
    const u64 field = static_cast<u64>(is_signed ? static_cast<u64>(static_cast<s64>(wide) >> start) : wide >> start);
    const u32 kept = start + length > 32 ? 32 - start : length;
    const u64 mask = kept >= 32 ? 0xffffffffu : (u64{1} << kept) - 1;
    u64 value = field & mask;
    if (is_signed && (value >> (kept - 1) & 1) != 0) value |= ~mask;
    return static_cast<T>(value);
}
// A byte of the result for each of four selectors: a byte of {b, a}, or its sign eight times.
inline u32 permuted(u32 a, u32 b, u32 selectors) {
    const u64 bytes = u64{b} << 32 | a;
    u32 result = 0;
    for (u32 k = 0; k < 4; ++k) {
        const u32 selector = selectors >> (4 * k) & 0xf;
        u32 byte = static_cast<u32>(bytes >> (8 * (selector & 7))) & 0xff;
        if ((selector & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
        result |= byte << (8 * k);
    }
    return result;
}
// Bit 4 a + 2 b + c of the table, for each bit.
inline u32 any_of_three(u32 a, u32 b, u32 c, u32 table) {
    u32 result = 0;
    for (u32 k = 0; k < 8; ++k) {
        const u32 here = ((k & 4) != 0 ? a : ~a) & ((k & 2) != 0 ? b : ~b) & ((k & 1) != 0 ? c : ~c);
        result |= (table >> k & 1) != 0 ? here : 0;
    }
    return result;
}
inline u32 reversed(u32 x) {
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}

// ---- mma

// 64 numbers of 16 bits as fp32: the two halves of a register's 32 lanes are an 8 x 8 matrix, row after row.
template <bool bfloat>
inline void widen(const std::byte* from, f32* to) {
    using Half [[gnu::may_alias]] = u16;
    const Half* halves = reinterpret_cast<const Half*>(from);
    for (int e = 0; e < 64; ++e) to[e] = bfloat ? from_bfloat(halves[e]) : from_half(halves[e]);
}

// Fragments as the PTX ISA lays them out (gpu/simt/tensor.h says it in a picture). Products of two 16-bit numbers are
// exact in fp32; they are added in the order of k.
template <bool bfloat>
void multiply(const TensorOp& op, std::byte* registers) {
    using Single [[gnu::may_alias]] = f32;
    f32 a[4][64], transposed[64], b[16][8], d[16][8];
    for (int r = 0; r < op.a_registers; ++r) widen<bfloat>(registers + op.a[r], a[r]);
    for (int r = 0; r < op.b_registers; ++r) {
        widen<bfloat>(registers + op.b[r], transposed);
        for (int k = 0; k < 8; ++k)
            for (int n = 0; n < 8; ++n) b[8 * r + k][n] = transposed[8 * n + k];
    }
    for (int half = 0; half < 2; ++half) {
        const Single* even = reinterpret_cast<const Single*>(registers + op.c[2 * half]);
        const Single* odd = reinterpret_cast<const Single*>(registers + op.c[2 * half + 1]);
        f32* to = d[8 * half];
        for (int lane = 0; lane < kLanes; ++lane) to[2 * lane] = even[lane], to[2 * lane + 1] = odd[lane];
    }
    for (int m = 0; m < 16; ++m) {
        f32 sum[8];
        for (int n = 0; n < 8; ++n) sum[n] = d[m][n];
        for (int k = 0; k < op.k; ++k) {
            const f32 left = a[m / 8 + 2 * (k / 8)][8 * (m % 8) + k % 8];
            for (int n = 0; n < 8; ++n) sum[n] += left * b[k][n];
        }
        for (int n = 0; n < 8; ++n) d[m][n] = sum[n];
    }
    for (int half = 0; half < 2; ++half) {
        Single* even = reinterpret_cast<Single*>(registers + op.d[2 * half]);
        Single* odd = reinterpret_cast<Single*>(registers + op.d[2 * half + 1]);
        const f32* from = d[8 * half];
        for (int lane = 0; lane < kLanes; ++lane) even[lane] = from[2 * lane], odd[lane] = from[2 * lane + 1];
    }
}

// ---- the table

struct Table {
    LaneRow rows[1100] = {};
    int count = 0;

    static void append(char*& to, const char* text) {
        while (*text != '\0') *to++ = *text++;
    }
    // The row's name is put together of its parts; its widths follow from the function.
    template <class F, class R, class... A>
    void put(const char* first, const char* second, const char* third, F, R (F::*)(A...) const) {
        LaneRow& row = rows[count++];
        char* to = row.name;
        append(to, first), append(to, second), append(to, third);
        *to = '\0';
        row.run = &Row<F, R, A...>::run;
        row.result = Form<R>::width;
        const Width widths[] = {Form<A>::width...};
        row.count = int{sizeof...(A)};
        for (int k = 0; k < row.count; ++k) row.operands[k] = widths[k];
        row.narrow = ((sizeof(A) == 1 && !__is_same(A, bool)) || ...);
    }
    template <class F>
    void add(const char* name, F f) {
        put(name, "", "", f, &F::operator());
    }
    template <class F>
    void add(const char* first, const char* second, F f) {
        put(first, second, "", f, &F::operator());
    }
    template <class F>
    void add(const char* first, const char* second, const char* third, F f) {
        put(first, second, third, f, &F::operator());
    }
    // A predicate is a word with a bit per lane: the function is of whole words.
    template <class F>
    void add_of_predicates(const char* name, int operands, F) {
        LaneRow& row = rows[count++];
        char* to = row.name;
        append(to, name);
        *to = '\0';
        row.result = Width::Pred;
        row.count = operands;
        for (int k = 0; k < operands; ++k) row.operands[k] = Width::Pred;
        row.run = [](Warp& w, const Instr& i) {
            using Word [[gnu::may_alias]] = u32;
            const auto word = [&](Slot32 slot) -> Word& { return *reinterpret_cast<Word*>(w.registers + slot); };
            Word& d = word(i.d);
            d = (d & ~w.active) | (F{}(word(i.a), word(i.b)) & w.active);
        };
    }

    template <class T>
    void add_integer(const char* type) {
        using U = std::make_unsigned_t<T>;
        add("add.", type, [](T a, T b) { return static_cast<T>(U(a) + U(b)); });
        add("sub.", type, [](T a, T b) { return static_cast<T>(U(a) - U(b)); });
        add("mul.lo.", type, [](T a, T b) { return static_cast<T>(u64(a) * u64(b)); });
        add("mad.lo.", type, [](T a, T b, T c) { return static_cast<T>(u64(a) * u64(b) + u64(c)); });
        add("div.", type, [](T a, T b) { return quotient<T>(a, b); });
        add("rem.", type, [](T a, T b) { return remainder<T>(a, b); });
        add("min.", type, [](T a, T b) { return pick(a < b, a, b); });
        add("max.", type, [](T a, T b) { return pick(a > b, a, b); });
        add("shr.", type, [](T a, u32 b) { return shift_right<T>(a, b); });
        if constexpr (static_cast<T>(-1) < 0) {
            add("neg.", type, [](T a) { return static_cast<T>(U{0} - U(a)); });
            add("abs.", type, [](T a) { return static_cast<T>(a < 0 ? U{0} - U(a) : U(a)); });
        }
        if constexpr (sizeof(T) > 2) {
            add("mul.hi.", type, [](T a, T b) { return high_half<T>(a, b); });
            add("mad.hi.", type, [](T a, T b, T c) { return static_cast<T>(U(high_half<T>(a, b)) + U(c)); });
        }
        add_comparisons<T>(type);
        if constexpr (static_cast<T>(-1) > 0) {
            add_comparison<T>("lo.", type, [](T a, T b) { return a < b; });
            add_comparison<T>("ls.", type, [](T a, T b) { return a <= b; });
            add_comparison<T>("hi.", type, [](T a, T b) { return a > b; });
            add_comparison<T>("hs.", type, [](T a, T b) { return a >= b; });
        }
    }
    template <class T, class Wide>
    void add_wide(const char* type) {
        add("mul.wide.", type, [](T a, T b) { return static_cast<Wide>(Wide(a) * Wide(b)); });
        add("mad.wide.", type, [](T a, T b, Wide c) { return static_cast<Wide>(u64(Wide(a) * Wide(b)) + u64(c)); });
    }
    template <class T>
    void add_bits(const char* type) {
        add("and.", type, [](T a, T b) { return static_cast<T>(a & b); });
        add("or.", type, [](T a, T b) { return static_cast<T>(a | b); });
        add("xor.", type, [](T a, T b) { return static_cast<T>(a ^ b); });
        add("not.", type, [](T a) { return static_cast<T>(~a); });
        add("shl.", type, [](T a, u32 b) { return shift_left<T>(a, b); });
        add("shr.", type, [](T a, u32 b) { return shift_right<T>(a, b); });
        add("mov.", type, [](T a) { return a; });
        add("selp.", type, [](T a, T b, bool first) { return pick(first, a, b); });
        add_comparison<T>("eq.", type, [](T a, T b) { return a == b; });
        add_comparison<T>("ne.", type, [](T a, T b) { return a != b; });
    }
    template <class T, class F>
    void add_comparison(const char* how, const char* type, F) {
        add("setp.", how, type, [](T a, T b) -> bool { return F{}(a, b); });
        char with[3][12] = {"and.", "or.", "xor."};
        const auto named = [&](int k) {  // "lt.and."
            char* to = name_;
            append(to, how), append(to, with[k]);
            *to = '\0';
            return static_cast<const char*>(name_);
        };
        add("setp.", named(0), type, [](T a, T b, bool c) { return F{}(a, b) && c; });
        add("setp.", named(1), type, [](T a, T b, bool c) { return F{}(a, b) || c; });
        add("setp.", named(2), type, [](T a, T b, bool c) { return F{}(a, b) != c; });
    }
    template <class T>
    void add_comparisons(const char* type) {
        add_comparison<T>("eq.", type, [](T a, T b) { return a == b; });
        add_comparison<T>("ne.", type, [](T a, T b) { return (a < b) | (a > b); });  // of NaN: no
        add_comparison<T>("lt.", type, [](T a, T b) { return a < b; });
        add_comparison<T>("le.", type, [](T a, T b) { return a <= b; });
        add_comparison<T>("gt.", type, [](T a, T b) { return a > b; });
        add_comparison<T>("ge.", type, [](T a, T b) { return a >= b; });
    }
    template <class T>
    void add_unordered(const char* type) {
        add_comparison<T>("equ.", type, [](T a, T b) { return !((a < b) | (a > b)); });
        add_comparison<T>("neu.", type, [](T a, T b) { return a != b; });
        add_comparison<T>("ltu.", type, [](T a, T b) { return !(a >= b); });
        add_comparison<T>("leu.", type, [](T a, T b) { return !(a > b); });
        add_comparison<T>("gtu.", type, [](T a, T b) { return !(a <= b); });
        add_comparison<T>("geu.", type, [](T a, T b) { return !(a < b); });
        add_comparison<T>("num.", type, [](T a, T b) { return (a == a) & (b == b); });
        add_comparison<T>("nan.", type, [](T a, T b) { return (a != a) | (b != b); });
    }
    // Each function of single precision as it is, with subnormal operands and results taken as zero, and saturated.
    template <class F>
    void add_single(const char* name, F) {
        if constexpr (requires { F{}(1.0f, 1.0f, 1.0f); }) {
            add(name, "f32", [](f32 a, f32 b, f32 c) { return F{}(a, b, c); });
            add(name, "ftz.f32", [](f32 a, f32 b, f32 c) { return flush(F{}(flush(a), flush(b), flush(c))); });
            add(name, "sat.f32", [](f32 a, f32 b, f32 c) { return saturated(F{}(a, b, c)); });
            add(name, "ftz.sat.f32",
                [](f32 a, f32 b, f32 c) { return saturated(flush(F{}(flush(a), flush(b), flush(c)))); });
        } else if constexpr (requires { F{}(1.0f, 1.0f); }) {
            add(name, "f32", [](f32 a, f32 b) { return F{}(a, b); });
            add(name, "ftz.f32", [](f32 a, f32 b) { return flush(F{}(flush(a), flush(b))); });
            add(name, "sat.f32", [](f32 a, f32 b) { return saturated(F{}(a, b)); });
            add(name, "ftz.sat.f32", [](f32 a, f32 b) { return saturated(flush(F{}(flush(a), flush(b)))); });
        } else {
            add(name, "f32", [](f32 a) { return F{}(a); });
            add(name, "ftz.f32", [](f32 a) { return flush(F{}(flush(a))); });
        }
    }
    template <class To>
    void add_conversions_to(const char* to) {
        add(to, "u16", [](u16 a) { return static_cast<To>(a); });
        add(to, "s16", [](s16 a) { return static_cast<To>(a); });
        add(to, "u32", [](u32 a) { return static_cast<To>(a); });
        add(to, "s32", [](s32 a) { return static_cast<To>(a); });
        add(to, "u64", [](u64 a) { return static_cast<To>(a); });
        add(to, "s64", [](s64 a) { return static_cast<To>(a); });
        add(to, "u8", [](u8 a) { return static_cast<To>(a); });
        add(to, "s8", [](s8 a) { return static_cast<To>(a); });
    }
    template <class To>
    void add_whole(const char* to) {
        add("cvt.rni.", to, ".f32", [](f32 a) { return whole<To>(__builtin_rintf(a)); });
        add("cvt.rzi.", to, ".f32", [](f32 a) { return whole<To>(__builtin_truncf(a)); });
        add("cvt.rmi.", to, ".f32", [](f32 a) { return whole<To>(__builtin_floorf(a)); });
        add("cvt.rpi.", to, ".f32", [](f32 a) { return whole<To>(__builtin_ceilf(a)); });
        add("cvt.rni.ftz.", to, ".f32", [](f32 a) { return whole<To>(__builtin_rintf(flush(a))); });
        add("cvt.rzi.ftz.", to, ".f32", [](f32 a) { return whole<To>(__builtin_truncf(flush(a))); });
        add("cvt.rmi.ftz.", to, ".f32", [](f32 a) { return whole<To>(__builtin_floorf(flush(a))); });
        add("cvt.rpi.ftz.", to, ".f32", [](f32 a) { return whole<To>(__builtin_ceilf(flush(a))); });
        add("cvt.rni.", to, ".f64", [](f64 a) { return whole<To>(__builtin_rint(a)); });
        add("cvt.rzi.", to, ".f64", [](f64 a) { return whole<To>(__builtin_trunc(a)); });
    }

    void add_integers();
    void add_floats();
    void add_conversions();
    Table() {
        add_integers();
        add_floats();
        add_conversions();
    }

  private:
    char name_[12] = {};
};

void Table::add_integers() {
    add_integer<s16>("s16"), add_integer<u16>("u16");
    add_integer<s32>("s32"), add_integer<u32>("u32");
    add_integer<s64>("s64"), add_integer<u64>("u64");
    add_wide<s16, s32>("s16"), add_wide<u16, u32>("u16");
    add_wide<s32, s64>("s32"), add_wide<u32, u64>("u32");
    add_bits<u16>("b16"), add_bits<u32>("b32"), add_bits<u64>("b64");
    add_of_predicates("and.pred", 2, [](u32 a, u32 b) { return a & b; });
    add_of_predicates("or.pred", 2, [](u32 a, u32 b) { return a | b; });
    add_of_predicates("xor.pred", 2, [](u32 a, u32 b) { return a ^ b; });
    add_of_predicates("not.pred", 1, [](u32 a, u32) { return ~a; });
    add_of_predicates("mov.pred", 1, [](u32 a, u32) { return a; });
    add("popc.b32", [](u32 a) { return static_cast<u32>(__builtin_popcount(a)); });
    add("popc.b64", [](u64 a) { return static_cast<u32>(__builtin_popcountll(a)); });
    add("clz.b32", [](u32 a) { return a == 0 ? 32u : static_cast<u32>(__builtin_clz(a)); });
    add("clz.b64", [](u64 a) { return a == 0 ? 64u : static_cast<u32>(__builtin_clzll(a)); });
    add("brev.b32", [](u32 a) { return reversed(a); });
    add("bfe.u32", [](u32 a, u32 b, u32 c) { return extracted<u32>(a, b, c); });
    add("bfe.s32", [](s32 a, u32 b, u32 c) { return extracted<s32>(a, b, c); });
    add("bfi.b32", [](u32 a, u32 b, u32 c, u32 length) { return inserted(a, b, c, length); });
    add("bfi.b64", [](u64 a, u64 b, u32 c, u32 length) { return inserted(a, b, c, length); });
    add("lop3.b32", [](u32 a, u32 b, u32 c, u32 table) { return any_of_three(a, b, c, table); });
    add("prmt.b32", [](u32 a, u32 b, u32 c) { return permuted(a, b, c); });
    add("shf.l.wrap.b32", [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) << (c & 31) >> 32); });
    add("shf.r.wrap.b32", [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) >> (c & 31)); });
    add("shf.l.clamp.b32",
        [](u32 a, u32 b, u32 c) { return c >= 32 ? a : static_cast<u32>((u64{b} << 32 | a) << c >> 32); });
    add("shf.r.clamp.b32",
        [](u32 a, u32 b, u32 c) { return static_cast<u32>((u64{b} << 32 | a) >> (c >= 32 ? 32 : c)); });
}

void Table::add_floats() {
    add_single("add.", [](f32 a, f32 b) { return a + b; });
    add_single("sub.", [](f32 a, f32 b) { return a - b; });
    add_single("mul.", [](f32 a, f32 b) { return a * b; });
    add_single("div.rn.", [](f32 a, f32 b) { return a / b; });
    add_single("div.full.", [](f32 a, f32 b) { return a / b; });
    add_single("div.approx.", [](f32 a, f32 b) { return a / b; });
    add_single("fma.rn.", [](f32 a, f32 b, f32 c) { return __builtin_fmaf(a, b, c); });
    add_single("fma.rm.", [](f32 a, f32 b, f32 c) { return fma_towards<Towards::Minus>(a, b, c); });
    add_single("fma.rp.", [](f32 a, f32 b, f32 c) { return fma_towards<Towards::Plus>(a, b, c); });
    add_single("fma.rz.", [](f32 a, f32 b, f32 c) { return fma_towards<Towards::Zero>(a, b, c); });
    add_single("min.", [](f32 a, f32 b) { return smallest(a, b); });
    add_single("max.", [](f32 a, f32 b) { return largest(a, b); });
    add_single("min.NaN.", [](f32 a, f32 b) { return nan_if_any(a, b, smallest(a, b)); });
    add_single("max.NaN.", [](f32 a, f32 b) { return nan_if_any(a, b, largest(a, b)); });
    add_single("neg.", [](f32 a) { return bits_as<f32>(bits_as<u32>(a) ^ 0x80000000u); });
    add_single("abs.", [](f32 a) { return bits_as<f32>(bits_as<u32>(a) & 0x7fffffffu); });
    add_single("rcp.rn.", [](f32 a) { return 1.0f / a; });
    add_single("rcp.approx.", [](f32 a) { return 1.0f / a; });
    add_single("sqrt.rn.", [](f32 a) { return __builtin_sqrtf(a); });
    add_single("sqrt.approx.", [](f32 a) { return __builtin_sqrtf(a); });
    add_single("rsqrt.approx.", [](f32 a) { return static_cast<f32>(1.0 / __builtin_sqrt(f64{a})); });
    add_single("ex2.approx.", [](f32 a) { return power_of_two(a); });
    add_single("lg2.approx.", [](f32 a) { return static_cast<f32>(__builtin_log2(f64{a})); });
    add_single("sin.approx.", [](f32 a) { return static_cast<f32>(__builtin_sin(f64{a})); });
    add_single("cos.approx.", [](f32 a) { return static_cast<f32>(__builtin_cos(f64{a})); });
    add("tanh.approx.f32", [](f32 a) { return static_cast<f32>(__builtin_tanh(f64{a})); });
    add_comparisons<f32>("f32"), add_unordered<f32>("f32");
    add_comparisons<f64>("f64"), add_unordered<f64>("f64");

    add("add.f64", [](f64 a, f64 b) { return a + b; });
    add("sub.f64", [](f64 a, f64 b) { return a - b; });
    add("mul.f64", [](f64 a, f64 b) { return a * b; });
    add("div.rn.f64", [](f64 a, f64 b) { return a / b; });
    add("fma.rn.f64", [](f64 a, f64 b, f64 c) { return __builtin_fma(a, b, c); });
    add("neg.f64", [](f64 a) { return -a; });
    add("abs.f64", [](f64 a) { return __builtin_fabs(a); });
    add("rcp.rn.f64", [](f64 a) { return 1.0 / a; });
    add("sqrt.rn.f64", [](f64 a) { return __builtin_sqrt(a); });
}

void Table::add_conversions() {
    add_conversions_to<u16>("cvt.u16."), add_conversions_to<s16>("cvt.s16.");
    add_conversions_to<u32>("cvt.u32."), add_conversions_to<s32>("cvt.s32.");
    add_conversions_to<u64>("cvt.u64."), add_conversions_to<s64>("cvt.s64.");
    add_conversions_to<f32>("cvt.rn.f32."), add_conversions_to<f64>("cvt.rn.f64.");
    add_whole<u32>("u32"), add_whole<s32>("s32"), add_whole<u64>("u64"), add_whole<s64>("s64");
    add("cvt.rni.f32.f32", [](f32 a) { return __builtin_rintf(a); });
    add("cvt.rzi.f32.f32", [](f32 a) { return __builtin_truncf(a); });
    add("cvt.rmi.f32.f32", [](f32 a) { return __builtin_floorf(a); });
    add("cvt.rpi.f32.f32", [](f32 a) { return __builtin_ceilf(a); });
    add("cvt.f32.f32", [](f32 a) { return a; });
    add("cvt.ftz.f32.f32", [](f32 a) { return flush(a); });
    add("cvt.sat.f32.f32", [](f32 a) { return saturated(a); });
    add("cvt.ftz.sat.f32.f32", [](f32 a) { return saturated(flush(a)); });
    add("cvt.f64.f32", [](f32 a) { return f64{a}; });
    add("cvt.rn.f32.f64", [](f64 a) { return static_cast<f32>(a); });
    add("cvt.f32.f16", [](u16 a) { return from_half(a); });
    add("cvt.ftz.f32.f16", [](u16 a) { return from_half(a); });
    add("cvt.f32.bf16", [](u16 a) { return from_bfloat(a); });
    add("cvt.rn.f16.f32", [](f32 a) { return to_half(a); });
    add("cvt.rn.bf16.f32", [](f32 a) { return to_bfloat(a); });
    add("cvt.rn.f16x2.f32", [](f32 a, f32 b) { return u32{to_half(a)} << 16 | to_half(b); });
    add("cvt.rn.bf16x2.f32", [](f32 a, f32 b) { return u32{to_bfloat(a)} << 16 | to_bfloat(b); });
}

}  // namespace

LaneRows lane_rows() {
    static const Table table;
    return {table.rows, table.count, [](const TensorOp& op, std::byte* registers) {
                op.bfloat ? multiply<true>(op, registers) : multiply<false>(op, registers);
            }};
}
