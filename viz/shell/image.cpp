// PNG writing; the only place that holds stb_image_write's code.
#include "viz/shell/image.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "core/error.h"

#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#include <stb/stb_image_write.h>
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

namespace flashstep::viz {

void write_png(const std::string& path, const Image& image) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    if (!file)
        throw Error("cannot write " + path + ": " + std::strerror(errno),
                    "Choose a folder that exists and can be written.");
    const auto put = [](void* to, void* data, int size) {
        std::fwrite(data, 1, static_cast<std::size_t>(size), static_cast<std::FILE*>(to));
    };
    const int done = stbi_write_png_to_func(put, file, image.width, image.height, 3, image.rgb.data(), image.width * 3);
    const bool bad = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || bad || done == 0) {
        throw Error("cannot write " + path + ": the disk may be full", "Choose another place.");
    }
}

}  // namespace flashstep::viz
