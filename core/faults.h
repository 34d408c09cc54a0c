// Known mistakes: each changes the meaning of one word of the pseudo-code on one line of one algorithm. Adding one is a
// row of the table in faults.cpp.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/text.h"

namespace flashstep {

// The words that a fault can change.
enum class Word { Scale, Product, Mask, Max, ExpDiff, Rescale, Subtract, Load, StoreStatistic };

enum class Meaning {
    Right,            // no fault
    One,              // Scale, Rescale: a factor of 1
    Inverse,          // Rescale: 1 / e^(m_old - m), inf for 0
    GuardedInverse,   // Rescale: the same with 0 for 0
    TileMaximum,      // ExpDiff: subtracts the tile's own row maxima
    Zero,             // Max: always 0
    First,            // Max: the first number stays, whatever comes
    ZeroForMinusInf,  // Max: a guard against -inf - -inf that stays in the state
    FiniteSentinel,   // Mask: kMaskSentinel instead of -inf
    ZeroFilledTail,   // Load: a whole block, zeros behind the last row, which nothing masks
    Left,             // Subtract: the second operand is forgotten
    HalfPrecision,    // StoreStatistic: m and l are kept in fp16; Product: its sums are
};

constexpr double kMaskSentinel = -1e9;

struct Fault {
    std::string_view id;
    Text title;
    std::string_view algorithm;
    int line;
    Word word;
    Meaning meaning;
    std::string_view preset;  // where it fails visibly
    std::string_view tensor;  // where it shows first there, on `line`, in the iteration i, j (0-based)
    int i, j;
    Text hides;  // where it does not show
    // What it changes in its line of the pseudo-code, as TeX: a piece of the line, and what stands instead of it.
    // Empty: nothing goes, and what it puts stands behind the line; nothing comes.
    std::string_view strikes = {};
    Text puts = {};
};

std::span<const Fault> faults();
const Fault* find_fault(std::string_view id);  // nullptr: unknown

// The line's text with the mistake in it: what goes in \struck{}, what comes in \put{}. Throws Error where what it
// strikes is not there once.
std::string with_mistake(std::string_view line, const Fault& fault, Language language);

}  // namespace flashstep
