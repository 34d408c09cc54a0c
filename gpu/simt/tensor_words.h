// The host's meaning of the words for 16-bit numbers, for several elements at once, asynchronous copies and tensor
// cores.
#pragma once

#include "gpu/simt/words.h"

namespace flashstep::gpu {
inline namespace on_host {

inline Half to_half(float x) { return {half_bits(x)}; }
inline BFloat to_bfloat(float x) { return {bfloat_bits(x)}; }
inline float to_float(Half x) { return half_value(x.bits); }
inline float to_float(BFloat x) { return bfloat_value(x.bits); }
template <Element16 T>
T to_element(float x) {
    if constexpr (std::is_same_v<T, Half>) {
        return to_half(x);
    } else {
        return to_bfloat(x);
    }
}
template <Element16 T>
std::uint32_t pack(T lower, T upper) {
    return lower.bits | std::uint32_t{upper.bits} << 16;
}
template <Element16 T>
std::uint32_t pack_floats(float lower, float upper) {
    return pack(to_element<T>(lower), to_element<T>(upper));
}
template <Element16 T>
T lower_of(std::uint32_t pair) {
    return {static_cast<std::uint16_t>(pair)};
}
template <Element16 T>
T upper_of(std::uint32_t pair) {
    return {static_cast<std::uint16_t>(pair >> 16)};
}

// ---- several elements at once

template <int bytes, class T>
Packet<std::remove_const_t<T>, bytes> load_packet(const Global<T>& view, std::int64_t index) {
    const simt::GlobalRun run = view.run(index, bytes);
    if (view.checked()) [[unlikely]]
        simt::check_global_run(run, simt::Access::Read);
    run.tensor->read_bytes += bytes;
    Packet<std::remove_const_t<T>, bytes> packet;
    std::memcpy(&packet, run.data, bytes);
    return packet;
}
template <int bytes, class T>
Packet<std::remove_const_t<T>, bytes> load_packet(const Shared<T>& view, std::int64_t index) {
    const simt::SharedRun run = view.run(index, bytes);
    if (view.checked()) [[unlikely]]
        simt::check_shared_run(run, simt::Access::Read);
    Packet<std::remove_const_t<T>, bytes> packet;
    std::memcpy(&packet, run.data, bytes);
    return packet;
}
template <int bytes, class T>
void store_packet(const Global<T>& view, std::int64_t index, const Packet<T, bytes>& packet) {
    const simt::GlobalRun run = view.run(index, bytes);
    if (view.checked()) [[unlikely]]
        simt::check_global_run(run, simt::Access::Write);
    run.tensor->write_bytes += bytes;
    std::memcpy(run.data, &packet, bytes);
}
template <int bytes, class T>
void store_packet(const Shared<T>& view, std::int64_t index, const Packet<T, bytes>& packet) {
    const simt::SharedRun run = view.run(index, bytes);
    if (view.checked()) [[unlikely]]
        simt::check_shared_run(run, simt::Access::Write);
    std::memcpy(run.data, &packet, bytes);
}
template <template <class> class View, class T>
auto load_16(const View<T>& view, std::int64_t index) {
    return load_packet<16>(view, index);
}
template <template <class> class View, class T>
void store_16(const View<T>& view, std::int64_t index, const Packet<T, 16>& packet) {
    store_packet<16>(view, index, packet);
}
template <template <class> class View, class T>
std::uint32_t load_pair(const View<T>& view, std::int64_t index) {
    static_assert(Element16<std::remove_const_t<T>>);
    return std::bit_cast<std::uint32_t>(load_packet<4>(view, index));
}
template <template <class> class View, Element16 T>
void store_pair(const View<T>& view, std::int64_t index, std::uint32_t pair) {
    store_packet<4>(view, index, std::bit_cast<Packet<T, 4>>(pair));
}

// ---- asynchronous copies

template <int bytes, class T, class From>
void cp_async(const char* word, const Shared<T>& to, std::int64_t to_index, const Global<From>& from,
              std::int64_t from_index, int source_bytes, simt::CallSite where) {
    static_assert(std::is_same_v<T, std::remove_const_t<From>> && sizeof(T) <= bytes);
    simt::Lane& lane = *simt::current_lane;
    simt::Block& block = *lane.block;
    block.require_target(lane, word, 80);
    const simt::SharedRun target = to.run(to_index, bytes);
    const simt::GlobalRun source = from.run(from_index, bytes);
    if (to.checked()) [[unlikely]]
        simt::check_async(target, source, source_bytes);
    ++block.counters->async_copies;
    block.counters->async_bytes += source_bytes;
    source.tensor->read_bytes += source_bytes;
    lane.copies.issue(lane, {.to = target.data,
                             .from = source.data,
                             .bytes = bytes,
                             .source_bytes = source_bytes,
                             .place = target.place,
                             .view = target.view,
                             .index = to_index,
                             .where = where,
                             .source = source.tensor->role == TensorRole::Input ? nullptr : source.tensor});
}
template <class T, class From>
void cp_async_16(const Shared<T>& to, std::int64_t to_index, const Global<From>& from, std::int64_t from_index,
                 int source_bytes = 16, simt::CallSite where = simt::CallSite::here()) {
    cp_async<16>("cp_async_16", to, to_index, from, from_index, source_bytes, where);
}
template <class T, class From>
void cp_async_8(const Shared<T>& to, std::int64_t to_index, const Global<From>& from, std::int64_t from_index,
                int source_bytes = 8, simt::CallSite where = simt::CallSite::here()) {
    cp_async<8>("cp_async_8", to, to_index, from, from_index, source_bytes, where);
}
template <class T, class From>
void cp_async_4(const Shared<T>& to, std::int64_t to_index, const Global<From>& from, std::int64_t from_index,
                int source_bytes = 4, simt::CallSite where = simt::CallSite::here()) {
    cp_async<4>("cp_async_4", to, to_index, from, from_index, source_bytes, where);
}
inline void cp_async_commit() {
    simt::Lane& lane = *simt::current_lane;
    lane.block->require_target(lane, "cp_async_commit", 80);
    lane.copies.commit();
}
template <int pending>
void cp_async_wait(simt::CallSite where = simt::CallSite::here()) {
    static_assert(pending >= 0);
    simt::Lane& lane = *simt::current_lane;
    lane.block->require_target(lane, "cp_async_wait", 80);
    lane.block->wait_async(lane, pending, where);
}

// ---- tensor cores

template <int k, Element16 T>
void mma(float* d, const std::uint32_t* a, const std::uint32_t* b, const float* c, simt::CallSite where) {
    constexpr auto type = std::is_same_v<T, Half> ? simt::MmaType::Half : simt::MmaType::BFloat;
    constexpr int variant = simt::mma_variant(type, k);
    simt::Lane& lane = *simt::current_lane;
    if constexpr (type == simt::MmaType::BFloat) {
        lane.block->require_target(lane, k == 16 ? "mma_m16n8k16<BFloat>" : "mma_m16n8k8<BFloat>", 80);
    }
    const simt::MmaOperands operands{d, a, b, c};
    lane.block->collective(lane, simt::Warp::Collective::Mma, variant, reinterpret_cast<std::uintptr_t>(&operands),
                           where);
}
template <Element16 T>
void mma_m16n8k16(float (&d)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2], const float (&c)[4],
                  simt::CallSite where = simt::CallSite::here()) {
    mma<16, T>(d, a, b, c, where);
}
template <Element16 T>
void mma_m16n8k8(float (&d)[4], const std::uint32_t (&a)[2], const std::uint32_t (&b)[1], const float (&c)[4],
                 simt::CallSite where = simt::CallSite::here()) {
    mma<8, T>(d, a, b, c, where);
}

template <bool transposed, int matrices, Element16 T>
void ldmatrix(std::uint32_t (&registers)[matrices], const Shared<T>& view, std::int64_t row, simt::CallSite where) {
    const simt::LdMatrixOperands operands{registers, view.run(row, 16)};
    simt::Lane& lane = *simt::current_lane;
    lane.block->collective(lane, simt::Warp::Collective::LdMatrix, simt::ldmatrix_variant(matrices, transposed),
                           reinterpret_cast<std::uintptr_t>(&operands), where);
}
template <Element16 T>
void ldmatrix_x1(std::uint32_t (&registers)[1], const Shared<T>& view, std::int64_t row,
                 simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<false>(registers, view, row, where);
}
template <Element16 T>
void ldmatrix_x2(std::uint32_t (&registers)[2], const Shared<T>& view, std::int64_t row,
                 simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<false>(registers, view, row, where);
}
template <Element16 T>
void ldmatrix_x4(std::uint32_t (&registers)[4], const Shared<T>& view, std::int64_t row,
                 simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<false>(registers, view, row, where);
}
template <Element16 T>
void ldmatrix_x1_trans(std::uint32_t (&registers)[1], const Shared<T>& view, std::int64_t row,
                       simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<true>(registers, view, row, where);
}
template <Element16 T>
void ldmatrix_x2_trans(std::uint32_t (&registers)[2], const Shared<T>& view, std::int64_t row,
                       simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<true>(registers, view, row, where);
}
template <Element16 T>
void ldmatrix_x4_trans(std::uint32_t (&registers)[4], const Shared<T>& view, std::int64_t row,
                       simt::CallSite where = simt::CallSite::here()) {
    ldmatrix<true>(registers, view, row, where);
}

}  // namespace on_host
}  // namespace flashstep::gpu
