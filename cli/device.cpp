// flashstep device: the CUDA device of this machine, or why there is none.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.h"
#include "cli/output.h"
#include "cli/recording.h"
#include "gpu/run.h"

namespace flashstep::cli {
namespace {

using io::Json;

std::string target(int architecture) { return fmt::format("sm_{}", architecture); }

Json device_json(const gpu::DeviceStatus& device) {
    const auto text = [](const std::string& value) { return value.empty() ? Json() : Json(value); };
    return {{"available", device.available},
            {"name", text(device.name)},
            {"folder", device.available ? Json(device_folder(device.name)) : Json()},
            {"target", device.capability > 0 ? Json(target(device.capability)) : Json()},
            {"driver", text(device.driver)},
            {"runtime", text(device.runtime)},
            {"memory_bytes", device.memory_bytes > 0 ? Json(device.memory_bytes) : Json()},
            {"message", device.message.en}};
}

std::string device_page(const gpu::DeviceStatus& device) {
    if (!device.available) return device.message.en + "\n";
    return fmt::format(
        "{}\n  target   {}, runs this build's code for {}\n  driver   CUDA {}\n  runtime  CUDA {}\n"
        "  memory   {} bytes ({:.1f} GiB)\n",
        device.name, target(device.capability), target(device.code), device.driver, device.runtime, device.memory_bytes,
        static_cast<double>(device.memory_bytes) / (1 << 30));
}

Action add(const Options& options, const Start&) {
    const auto json = std::make_shared<JsonOption>(options);
    return [json] {
        const gpu::DeviceStatus device = gpu::device_status();
        if (json->on())
            json->write(device_json(device));
        else
            print_page(device_page(device));
        return device.available ? kOk : kUnavailable;
    };
}

}  // namespace

const Command kDevice{"device", "Says which CUDA device there is, or why there is none; exit 77 without one", add};

}  // namespace flashstep::cli
