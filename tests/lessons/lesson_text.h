// A small lesson to break in tests, and the error that a piece of work throws.
#pragma once

#include <string>

#include "core/error.h"
#include "lessons/lesson_file.h"

namespace flashstep::testing {

inline std::string small_lesson() {
    return R"(+++
title = "A title"
aim = "An aim."
part = 3
sources = ["A paper"]

[scenes.main]
preset = "n4d3"

[scenes.wrong]
fault = "no-rescale"
+++

```beat
at = "line=8 i=1 j=2"
focus = ["S_ij"]
explain = "S_ij[2,1]"
```

Row 2 scores {{S_ij[2,1] @ line=8 i=1 j=2}}, see [line 8](line=8,i=1,j=2).

```ask
kind = "value"
answer = "l_i[2] @ line=9 i=1 j=2"
right = 'It is {{l_i[2] @ line=9 i=1 j=2}}.'

[[wrong]]
answer = "l_i[2] @ line=9 i=1 j=1"
reply = 'That is one tile ago.'
```

```beat
at = "scene=wrong line=10 i=1 j=2"
```

Here $\tilde{O}_i$ begins with {{wrong:O_i[2,1] @ line=10 i=1 j=2}}.

```try
goal = "m_i[1] @ line=9 i=1 j=2 > m_old[1] @ line=9 i=1 j=2"
solution = ["K[3,1] = 2"]
done = 'Done.'
```
)";
}

inline std::string replaced(std::string text, const std::string& what, const std::string& with) {
    const std::size_t at = text.find(what);
    return at == std::string::npos ? "'" + what + "' is not in the text" : text.replace(at, what.size(), with);
}

inline Lesson parsed(const std::string& text, Language language = Language::English) {
    return parse_lesson({"06_small", language, text});
}

// "message | hint" of the Error that the work throws; empty: none.
template <class Work>
std::string error_of(Work work) {
    try {
        work();
        return {};
    } catch (const Error& error) { return std::string(error.what()) + " | " + error.hint(); }
}

}  // namespace flashstep::testing
