// The one place that knows ImGui's key interface: indices of GLFW up to 1.86, ImGuiKey from 1.87 on.
#include "viz/shell/input.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>
#include <imgui.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "core/error.h"

namespace flashstep::viz {
namespace {

// The two codes of a key; the second is that of the number pad, or the same again.
struct Codes {
    int first, second;
};

#if IMGUI_VERSION_NUM >= 18700
constexpr Codes kCodes[] = {{ImGuiKey_LeftArrow, ImGuiKey_LeftArrow},
                            {ImGuiKey_RightArrow, ImGuiKey_RightArrow},
                            {ImGuiKey_UpArrow, ImGuiKey_UpArrow},
                            {ImGuiKey_DownArrow, ImGuiKey_DownArrow},
                            {ImGuiKey_Home, ImGuiKey_Home},
                            {ImGuiKey_End, ImGuiKey_End},
                            {ImGuiKey_PageUp, ImGuiKey_PageUp},
                            {ImGuiKey_PageDown, ImGuiKey_PageDown},
                            {ImGuiKey_Space, ImGuiKey_Space},
                            {ImGuiKey_Enter, ImGuiKey_KeypadEnter},
                            {ImGuiKey_Escape, ImGuiKey_Escape},
                            {ImGuiKey_Tab, ImGuiKey_Tab},
                            {ImGuiKey_Backspace, ImGuiKey_Backspace},
                            {ImGuiKey_Delete, ImGuiKey_Delete},
                            {ImGuiKey_F1, ImGuiKey_F1},
                            {ImGuiKey_Equal, ImGuiKey_KeypadAdd},
                            {ImGuiKey_Minus, ImGuiKey_KeypadSubtract}};
constexpr int kDigit = ImGuiKey_0, kPadDigit = ImGuiKey_Keypad0, kLetter = ImGuiKey_A;
bool pressed(int code, bool repeat) { return ImGui::IsKeyPressed(static_cast<ImGuiKey>(code), repeat); }
#else
constexpr Codes kCodes[] = {{GLFW_KEY_LEFT, GLFW_KEY_LEFT},
                            {GLFW_KEY_RIGHT, GLFW_KEY_RIGHT},
                            {GLFW_KEY_UP, GLFW_KEY_UP},
                            {GLFW_KEY_DOWN, GLFW_KEY_DOWN},
                            {GLFW_KEY_HOME, GLFW_KEY_HOME},
                            {GLFW_KEY_END, GLFW_KEY_END},
                            {GLFW_KEY_PAGE_UP, GLFW_KEY_PAGE_UP},
                            {GLFW_KEY_PAGE_DOWN, GLFW_KEY_PAGE_DOWN},
                            {GLFW_KEY_SPACE, GLFW_KEY_SPACE},
                            {GLFW_KEY_ENTER, GLFW_KEY_KP_ENTER},
                            {GLFW_KEY_ESCAPE, GLFW_KEY_ESCAPE},
                            {GLFW_KEY_TAB, GLFW_KEY_TAB},
                            {GLFW_KEY_BACKSPACE, GLFW_KEY_BACKSPACE},
                            {GLFW_KEY_DELETE, GLFW_KEY_DELETE},
                            {GLFW_KEY_F1, GLFW_KEY_F1},
                            {GLFW_KEY_EQUAL, GLFW_KEY_KP_ADD},
                            {GLFW_KEY_MINUS, GLFW_KEY_KP_SUBTRACT}};
constexpr int kDigit = GLFW_KEY_0, kPadDigit = GLFW_KEY_KP_0, kLetter = GLFW_KEY_A;
bool pressed(int code, bool repeat) { return ImGui::IsKeyPressed(code, repeat); }
#endif

Codes codes(Key key) {
    const int k = static_cast<int>(key);
    if (key >= Key::A) return {kLetter + k - static_cast<int>(Key::A), kLetter + k - static_cast<int>(Key::A)};
    if (key >= Key::Num0)
        return {kDigit + k - static_cast<int>(Key::Num0), kPadDigit + k - static_cast<int>(Key::Num0)};
    return kCodes[k];
}

}  // namespace

bool is_number(Key key) { return key >= Key::Num0 && key <= Key::Num9; }

std::string key_text(Key key) {
    if (is_number(key)) return std::to_string(static_cast<int>(key) - static_cast<int>(Key::Num0));
    return {static_cast<char>('A' + static_cast<int>(key) - static_cast<int>(Key::A))};
}

namespace {

constexpr std::pair<std::string_view, Key> kKeyNames[] = {
    {"Left", Key::Left},
    {"Right", Key::Right},
    {"Up", Key::Up},
    {"Down", Key::Down},
    {"Home", Key::Home},
    {"End", Key::End},
    {"PageUp", Key::PageUp},
    {"PageDown", Key::PageDown},
    {"Space", Key::Space},
    {"Enter", Key::Enter},
    {"Esc", Key::Escape},
    {"Tab", Key::Tab},
    {"Delete", Key::Delete},
    {"F1", Key::F1},
    {"Backspace", Key::Backspace},
};

std::optional<Key> key_named(std::string_view name) {
    for (const auto& [known, key] : kKeyNames)
        if (known == name) return key;
    if (name.size() != 1) return std::nullopt;
    for (int k = static_cast<int>(Key::Num0); k < static_cast<int>(Key::count_); ++k)
        if (key_text(static_cast<Key>(k)) == name) return static_cast<Key>(k);
    return std::nullopt;
}

// "640,300".
std::optional<Gesture> click_of(std::string_view word) {
    const std::size_t comma = word.find(',');
    if (comma == std::string_view::npos) return std::nullopt;
    Gesture gesture{.click = true};
    const auto read = [](std::string_view text, float& value) {
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        return error == std::errc{} && end == text.data() + text.size();
    };
    if (!read(word.substr(0, comma), gesture.x) || !read(word.substr(comma + 1), gesture.y)) return std::nullopt;
    return gesture;
}

Gesture gesture_of(std::string_view word) {
    if (const auto click = click_of(word)) return *click;
    Gesture gesture;
    std::string_view name = word;
    const auto take = [&](std::string_view prefix, bool& held) {
        if (!name.starts_with(prefix)) return;
        name.remove_prefix(prefix.size());
        held = true;
    };
    take("Ctrl+", gesture.modifiers.ctrl), take("Shift+", gesture.modifiers.shift), take("Alt+", gesture.modifiers.alt);
    const std::optional<Key> key = key_named(name);
    if (!key)
        throw Error("there is no key called " + std::string(word),
                    "Keys are S, 3, Space, Left, Ctrl+Right; a click is X,Y");
    gesture.key = *key;
    return gesture;
}

}  // namespace

std::vector<Gesture> parse_gestures(std::string_view text) {
    std::vector<Gesture> gestures;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) gestures.push_back(gesture_of(text.substr(0, end)));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return gestures;
}

Modifiers modifiers_held() {
    const ImGuiIO& io = ImGui::GetIO();
    return {io.KeyCtrl, io.KeyShift, io.KeyAlt};
}

bool key_pressed(Key key, Modifiers modifiers, Repeat repeat) {
    Modifiers held = modifiers_held();
    if (key == Key::Plus) held.shift = modifiers.shift;  // + is a shifted key on many keyboards
    if (held != modifiers) return false;
    const Codes c = codes(key);
    const bool again = repeat == Repeat::Yes;
    return pressed(c.first, again) || (c.second != c.first && pressed(c.second, again));
}

bool typing() { return ImGui::GetIO().WantTextInput; }

#if IMGUI_VERSION_NUM >= 18700

void feed_key(Key key, bool down) { ImGui::GetIO().AddKeyEvent(static_cast<ImGuiKey>(codes(key).first), down); }
void feed_mouse(float x, float y) { ImGui::GetIO().AddMousePosEvent(x, y); }
void feed_button(int button, bool down) { ImGui::GetIO().AddMouseButtonEvent(button, down); }
void feed_wheel(float wheel) { ImGui::GetIO().AddMouseWheelEvent(0, wheel); }
void map_keys() {}

void feed_modifiers(Modifiers m) {
    ImGuiIO& io = ImGui::GetIO();
#if IMGUI_VERSION_NUM >= 18900
    io.AddKeyEvent(ImGuiMod_Ctrl, m.ctrl);
    io.AddKeyEvent(ImGuiMod_Shift, m.shift);
    io.AddKeyEvent(ImGuiMod_Alt, m.alt);
#else
    io.AddKeyEvent(ImGuiKey_ModCtrl, m.ctrl);
    io.AddKeyEvent(ImGuiKey_ModShift, m.shift);
    io.AddKeyEvent(ImGuiKey_ModAlt, m.alt);
#endif
}

#else

void feed_key(Key key, bool down) { ImGui::GetIO().KeysDown[codes(key).first] = down; }
void feed_mouse(float x, float y) { ImGui::GetIO().MousePos = {x, y}; }
void feed_button(int button, bool down) { ImGui::GetIO().MouseDown[button] = down; }
void feed_wheel(float wheel) { ImGui::GetIO().MouseWheel += wheel; }

void feed_modifiers(Modifiers m) {
    ImGuiIO& io = ImGui::GetIO();
    io.KeyCtrl = m.ctrl;
    io.KeyShift = m.shift;
    io.KeyAlt = m.alt;
    io.KeyMods = (m.ctrl ? ImGuiKeyModFlags_Ctrl : 0) | (m.shift ? ImGuiKeyModFlags_Shift : 0) |
                 (m.alt ? ImGuiKeyModFlags_Alt : 0);
}

void map_keys() {
    int* map = ImGui::GetIO().KeyMap;
    map[ImGuiKey_Tab] = GLFW_KEY_TAB;
    map[ImGuiKey_LeftArrow] = GLFW_KEY_LEFT;
    map[ImGuiKey_RightArrow] = GLFW_KEY_RIGHT;
    map[ImGuiKey_UpArrow] = GLFW_KEY_UP;
    map[ImGuiKey_DownArrow] = GLFW_KEY_DOWN;
    map[ImGuiKey_PageUp] = GLFW_KEY_PAGE_UP;
    map[ImGuiKey_PageDown] = GLFW_KEY_PAGE_DOWN;
    map[ImGuiKey_Home] = GLFW_KEY_HOME;
    map[ImGuiKey_End] = GLFW_KEY_END;
    map[ImGuiKey_Delete] = GLFW_KEY_DELETE;
    map[ImGuiKey_Backspace] = GLFW_KEY_BACKSPACE;
    map[ImGuiKey_Space] = GLFW_KEY_SPACE;
    map[ImGuiKey_Enter] = GLFW_KEY_ENTER;
    map[ImGuiKey_Escape] = GLFW_KEY_ESCAPE;
    map[ImGuiKey_KeyPadEnter] = GLFW_KEY_KP_ENTER;
    map[ImGuiKey_A] = GLFW_KEY_A;
    map[ImGuiKey_C] = GLFW_KEY_C;
    map[ImGuiKey_V] = GLFW_KEY_V;
    map[ImGuiKey_X] = GLFW_KEY_X;
    map[ImGuiKey_Y] = GLFW_KEY_Y;
    map[ImGuiKey_Z] = GLFW_KEY_Z;
}

#endif

}  // namespace flashstep::viz
