// Bank conflicts.
#include "gpu/simt/memory.h"

#include <algorithm>
#include <array>
#include <bit>

namespace flashstep::gpu::simt {

namespace {

constexpr std::uint32_t kBanks = 32;

// One word a lane: the common cases first, a broadcast, and all lanes in different banks.
bool conflict_free(const std::uint32_t* places, int lanes) {
    std::uint32_t banks = 0;
    bool same = true, clash = false;
    const std::uint32_t word0 = places[0] / 4;
    for (int lane = 0; lane < lanes; ++lane) {
        const std::uint32_t word = places[lane] / 4, bit = 1u << (word % kBanks);
        same &= word == word0;
        clash |= (banks & bit) != 0;
        banks |= bit;
    }
    return same || !clash;
}

Wavefronts one_phase(const std::uint32_t* places, int lanes, int words_per_lane) {
    std::array<std::uint32_t, kBanks> words;  // a phase asks for that many at most
    std::size_t count = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        for (int w = 0; w < words_per_lane; ++w) words[count++] = places[lane] / 4 + static_cast<std::uint32_t>(w);
    }
    std::sort(words.begin(), words.begin() + count);
    count = static_cast<std::size_t>(std::unique(words.begin(), words.begin() + count) - words.begin());
    std::array<int, kBanks> per_bank{};
    for (std::size_t k = 0; k < count; ++k) ++per_bank[words[k] % kBanks];
    return {*std::max_element(per_bank.begin(), per_bank.end()), 1};
}

// 16 bytes a lane, so 8 groups of 4 banks: the different places in the fullest group.
int fullest_group(const std::uint32_t* places, int lanes) {
    unsigned groups = 0;
    for (int lane = 0; lane < lanes; ++lane) groups |= 1u << (places[lane] / 16 % 8);
    if (std::popcount(groups) == lanes) return 1;  // the common case
    int fullest = 1, in_group[8] = {};
    for (int lane = 0; lane < lanes; ++lane) {
        bool seen = false;
        for (int before = 0; before < lane; ++before) seen |= places[before] == places[lane];
        if (!seen) fullest = std::max(fullest, ++in_group[places[lane] / 16 % 8]);
    }
    return fullest;
}

}  // namespace

Wavefronts wavefronts(const std::uint32_t* places, int lanes, int bytes_per_lane) {
    const int words_per_lane = std::max(1, bytes_per_lane / 4);
    if (words_per_lane == 1) { return conflict_free(places, lanes) ? Wavefronts{1, 1} : one_phase(places, lanes, 1); }
    const int lanes_per_phase = 32 / words_per_lane;
    Wavefronts sum{0, 0};
    for (int first = 0; first < lanes; first += lanes_per_phase) {
        const int in_phase = std::min(lanes_per_phase, lanes - first);
        sum.actual += words_per_lane == 4 ? fullest_group(places + first, in_phase)
                                          : one_phase(places + first, in_phase, words_per_lane).actual;
        ++sum.ideal;
    }
    return sum;
}

void SharedLog::count(Counters& counters) {
    std::size_t longest = 0;
    for (const auto& log : lanes_) longest = std::max(longest, log.size());
    for (std::size_t k = 0; k < longest; ++k) {
        // Lanes that do the same (kind and size) form one access; there is one group unless lanes diverge.
        std::array<std::uint32_t, 32> entries, places;
        int left = 0;
        for (const auto& log : lanes_) {
            if (k < log.size()) entries[static_cast<std::size_t>(left++)] = log[k];
        }
        while (left > 0) {
            const std::uint32_t kind = entries[0] & 0xff;
            int lanes = 0, others = 0;
            for (int e = 0; e < left; ++e) {
                const std::uint32_t entry = entries[static_cast<std::size_t>(e)];
                if ((entry & 0xff) == kind) {
                    places[static_cast<std::size_t>(lanes++)] = entry >> 8;
                } else {
                    entries[static_cast<std::size_t>(others++)] = entry;
                }
            }
            const Wavefronts w = wavefronts(places.data(), lanes, static_cast<int>(kind >> 1));
            counters.wavefronts += w.actual;
            counters.ideal_wavefronts += w.ideal;
            left = others;
        }
    }
    counters.accesses_not_grouped += dropped_;
    clear();
}

void SharedLog::clear() {
    for (auto& log : lanes_) log.clear();
    dropped_ = 0;
    empty_ = true;
}

}  // namespace flashstep::gpu::simt
