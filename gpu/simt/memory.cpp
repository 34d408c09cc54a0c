// Bank conflicts.
#include "gpu/simt/memory.h"

#include <algorithm>
#include <array>

namespace flashstep::gpu::simt {

Wavefronts wavefronts(const std::uint32_t* places, int lanes, int bytes_per_lane) {
    constexpr std::uint32_t kBanks = 32;
    const int words_per_lane = std::max(1, bytes_per_lane / 4);
    // The common cases first: a broadcast, and all lanes in different banks.
    if (words_per_lane == 1) {
        std::uint32_t banks = 0;
        bool same = true, clash = false;
        const std::uint32_t word0 = places[0] / 4;
        for (int lane = 0; lane < lanes; ++lane) {
            const std::uint32_t word = places[lane] / 4, bit = 1u << (word % kBanks);
            same &= word == word0;
            clash |= (banks & bit) != 0;
            banks |= bit;
        }
        if (same || !clash) return {1, 1};
    }
    std::array<std::uint32_t, 32 * 4> words;
    std::size_t count = 0;
    for (int lane = 0; lane < lanes; ++lane) {
        for (int w = 0; w < words_per_lane && count < words.size(); ++w) {
            words[count++] = places[lane] / 4 + static_cast<std::uint32_t>(w);
        }
    }
    std::sort(words.begin(), words.begin() + count);
    count = static_cast<std::size_t>(std::unique(words.begin(), words.begin() + count) - words.begin());
    std::array<int, kBanks> per_bank{};
    for (std::size_t k = 0; k < count; ++k) ++per_bank[words[k] % kBanks];
    return {*std::max_element(per_bank.begin(), per_bank.end()), static_cast<int>((count + kBanks - 1) / kBanks)};
}

void SharedLog::flush(Counters& counters) {
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
}

}  // namespace flashstep::gpu::simt
