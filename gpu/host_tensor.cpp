// Conversions between floats and the formats of device memory.
#include "gpu/host_tensor.h"

#include <cstdint>
#include <cstring>

#include "gpu/half.h"

namespace flashstep::gpu {

std::vector<std::byte> encoded(const std::vector<float>& values, Element element) {
    std::vector<std::byte> bytes(values.size() * static_cast<std::size_t>(bytes_of(element)));
    if (element == Element::Fp32) {
        std::memcpy(bytes.data(), values.data(), bytes.size());
        return bytes;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        const std::uint16_t bits = element == Element::Fp16 ? half_bits(values[k]) : bfloat_bits(values[k]);
        std::memcpy(bytes.data() + 2 * k, &bits, 2);
    }
    return bytes;
}

std::vector<float> decoded(const std::vector<std::byte>& bytes, Element element) {
    std::vector<float> values(bytes.size() / static_cast<std::size_t>(bytes_of(element)));
    if (element == Element::Fp32) {
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    for (std::size_t k = 0; k < values.size(); ++k) {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes.data() + 2 * k, 2);
        values[k] = element == Element::Fp16 ? half_value(bits) : bfloat_value(bits);
    }
    return values;
}

}  // namespace flashstep::gpu
