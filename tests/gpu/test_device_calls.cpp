// Every call of the CUDA runtime in gpu/cuda is looked at, read from the source files themselves. Needs no CUDA.
#include <doctest/doctest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Call {
    std::string name;
    int line;
    bool looked_at;
};

// Without comments and string literals, which become blanks.
std::string code_of(std::string text) {
    enum { Code, Line, Block, Text } state = Code;
    for (std::size_t k = 0; k < text.size(); ++k) {
        const std::string_view two(text.data() + k, std::min<std::size_t>(2, text.size() - k));
        const char c = text[k];
        const bool inside = state != Code;
        if (state == Code) {
            state = two == "//" ? Line : two == "/*" ? Block : c == '"' ? Text : Code;
        } else if ((state == Line && c == '\n') || (state == Text && c == '"')) {
            state = Code;
        } else if (state == Block && two == "*/") {
            text[k + 1] = ' ';
            state = Code;
        } else if (state == Text && c == '\\') {
            text[++k] = ' ';
        }
        if ((inside || state != Code) && c != '\n') text[k] = ' ';
    }
    return text;
}

// Calls of functions of the runtime. One is looked at where it stands in CUDA_CHECK, check or release, where its result
// gets a name, or where it is compared with one. Those that only give the last error or its text are looked at anyhow.
std::vector<Call> calls_in(const std::string& source) {
    const std::string code = code_of(source);
    std::vector<Call> calls;
    int line = 1;
    for (std::size_t k = 0; k < code.size(); ++k) {
        if (code[k] == '\n') ++line;
        const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
        if (code.compare(k, 4, "cuda") != 0 || (k > 0 && in_word(code[k - 1]))) continue;
        std::size_t end = k;
        while (end < code.size() && in_word(code[end])) ++end;
        if (end >= code.size() || code[end] != '(' || end == k + 4) continue;
        Call call{code.substr(k, end - k), line, false};
        const std::size_t start = code.find_last_of(";{}", k) + 1;
        const std::string before = code.substr(start, k - start);
        for (std::string_view word : {"CUDA_CHECK(", " check(", " release(", "return ", "=", "if ("})
            if ((" " + before).find(word) != std::string::npos) call.looked_at = true;
        if (call.name.starts_with("cudaGetError") || call.name == "cudaGetLastError") call.looked_at = true;
        calls.push_back(call);
    }
    return calls;
}

}  // namespace

TEST_CASE("No call of the CUDA runtime drops its result, and no kernel is launched past the check") {
    int seen = 0;
    for (const auto& entry : fs::directory_iterator(FLASHSTEP_SOURCE_DIR "/gpu/cuda")) {
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        CAPTURE(entry.path().filename().string());
        CHECK(code_of(text.str()).find("<<<") == std::string::npos);
        for (const Call& call : calls_in(text.str())) {
            ++seen;
            CHECK_MESSAGE(call.looked_at, call.name << " in line " << call.line);
        }
    }
    CHECK(seen > 20);
}

TEST_CASE("A call whose result is dropped is found, and one that is looked at is not") {
    for (const char* source :
         {"void f() {\n cudaFree(p); }", "cudaMemset(a, 0, n);", "if (x) { y(); } cudaDeviceSynchronize();",
          "~E() { cudaEventDestroy(e); }", "CUDA_CHECK(cudaMalloc(&p, n)); cudaFree(p);", "(void)cudaFree(p);"}) {
        CAPTURE(source);
        int dropped = 0;
        for (const Call& call : calls_in(source)) dropped += !call.looked_at;
        CHECK(dropped == 1);
    }
    for (const char* source : {"CUDA_CHECK(\n    cudaMalloc(&p, n));", "const cudaError_t e = cudaFree(p);",
                               "if (cudaFree(p) != cudaSuccess) f();", "// cudaFree(p);", "g(\"cudaFree(p)\");",
                               "cudaGetLastError();", "~B() { release(cudaFree(p)); }", "/* cudaFree(p); */"}) {
        CAPTURE(source);
        for (const Call& call : calls_in(source)) CHECK(call.looked_at);
    }
    CHECK(calls_in("a();\ncudaFree(p);").at(0).line == 2);
}
