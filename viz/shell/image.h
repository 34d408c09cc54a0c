// An RGB image and its PNG file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashstep::viz {

struct Image {
    int width = 0, height = 0;
    std::vector<std::uint8_t> rgb;  // rows from the top, 3 bytes a pixel
    const std::uint8_t* at(int x, int y) const {
        return &rgb[(static_cast<std::size_t>(y) * static_cast<std::size_t>(width) + static_cast<std::size_t>(x)) * 3];
    }
};

// Throws Error if the file cannot be written.
void write_png(const std::string& path, const Image& image);

}  // namespace flashstep::viz
