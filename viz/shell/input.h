// Keys under one set of names, whichever key interface Dear ImGui has (it changed in 1.87).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flashstep::viz {

enum class Key {
    Left,
    Right,
    Up,
    Down,
    Home,
    End,
    PageUp,
    PageDown,
    Space,
    Enter,
    Escape,
    Tab,
    Backspace,
    Delete,
    F1,
    Plus,
    Minus,
    Num0,
    Num1,
    Num2,
    Num3,
    Num4,
    Num5,
    Num6,
    Num7,
    Num8,
    Num9,
    A,
    B,
    C,
    D,
    E,
    F,
    G,
    H,
    I,
    J,
    K,
    L,
    M,
    N,
    O,
    P,
    Q,
    R,
    S,
    T,
    U,
    V,
    W,
    X,
    Y,
    Z,
    count_
};

struct Modifiers {
    bool ctrl = false, shift = false, alt = false;
    bool operator==(const Modifiers&) const = default;
};

bool is_number(Key key);
// "7", "C": what is printed on a key of a number or a letter.
std::string key_text(Key key);

enum class Repeat { No, Yes };

// What a hand does: a key with its modifiers, or a click. "Space", "Ctrl+Right", "S", "640,300" (in pixels).
struct Gesture {
    Key key = Key::Space;
    Modifiers modifiers = {};
    bool click = false;
    float x = 0, y = 0;
};
// Words with spaces between. Throws Error naming the word.
std::vector<Gesture> parse_gestures(std::string_view text);

// Pressed in this frame, with exactly these modifiers held (Plus: shift does not matter). Keys of the number pad count.
bool key_pressed(Key key, Modifiers modifiers = {}, Repeat repeat = Repeat::No);
Modifiers modifiers_held();
// A text field has the keyboard: shortcuts of single letters must wait.
bool typing();

// For tests and for the headless context: puts the key into ImGui's state before the next frame.
void feed_key(Key key, bool down);
void feed_modifiers(Modifiers modifiers);
void feed_mouse(float x, float y);
void feed_button(int button, bool down);
void feed_wheel(float wheel);
// Maps ImGui's own keys (text editing) as the GLFW back end does; 1.86 only needs it, without a back end.
void map_keys();

}  // namespace flashstep::viz
