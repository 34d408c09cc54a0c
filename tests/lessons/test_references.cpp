// References: cells at places, counts of any algorithm, kernel counters, and how their numbers are written.
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>

#include "core/algorithms.h"
#include "core/gpu_model.h"
#include "gpu/run.h"
#include "lab/format.h"
#include "lab/presets.h"
#include "lessons/evaluate.h"
#include "tests/lessons/lesson_text.h"

using namespace flashstep;
using namespace flashstep::testing;

namespace {

// A lesson whose only text is `text`, with main on `preset`.
Lesson lesson_with(const std::string& text, const std::string& scenes = "[scenes.main]\npreset = \"n4d3\"\n") {
    return parsed("+++\ntitle = \"t\"\naim = \"a\"\npart = 1\nsources = []\n" + scenes +
                  "+++\n```beat\nat = \"start\"\n```\n" + text + "\n");
}

std::string resolved(const std::string& text, const std::string& scenes = "[scenes.main]\npreset = \"n4d3\"\n") {
    const Lesson lesson = lesson_with(text, scenes);
    Scenes runs(lesson);
    return resolve(lesson.beats[0].text, Language::English, runs);
}

std::string refused(const std::string& text, const std::string& scenes = "[scenes.main]\npreset = \"n4d3\"\n") {
    return error_of([&] { resolved(text, scenes); });
}

const std::string kBackward = "[scenes.main]\npreset = \"n4d3_backward\"\n";

}  // namespace

TEST_CASE("a reference stands for the value after its line in its iteration, in the end where it names none") {
    CHECK(resolved("x {{S_ij[1,2] @ line=8 i=1 j=2}} y") == "x −1 y");
    CHECK(resolved("${{S_ij[1,2] @ line=8 i=1 j=2}}$") == "$-1$");
    CHECK(resolved("$$a {{S_ij[1,2] @ line=8 i=1 j=2}}$$ {{S_ij[1,2] @ line=8 i=1 j=2}}") == "$$a -1$$ −1");
    CHECK(resolved("{{m_i[1] @ line=5 i=1}} ${{m_i[1] @ line=5 i=1}}$") == "−∞ $-\\infty$");
    // Between line 8 and line 9 of the second tile m_i is still the first tile's.
    CHECK(resolved("{{m_i[2] @ line=8 i=1 j=2}} {{m_i[2] @ line=9 i=1 j=2}}") == "1 2");
    CHECK(resolved("{{O[1,2]}} {{O_i[1,2] @ line=12 i=1}} {{L[2]}}") == "1.35 1.35 2.49");
    CHECK(resolved("{{Q[2,3]}} {{Q[2,3] @ start}} {{O[4,3] @ end}}") == "1 1 1.10");
    CHECK(resolved("e^{{{S_ij[1,1] @ line=8 i=1 j=1}}}") == "e^{2}");
}

TEST_CASE("n4d3 shows both cases of the article in query block 1 at j=2") {
    CHECK(resolved("{{m_i[1] @ line=9 i=1 j=2}}") == resolved("{{m_old[1] @ line=9 i=1 j=2}}"));  // case A: kept
    CHECK(resolved("{{m_old[2] @ line=9 i=1 j=2}} {{m_i[2] @ line=9 i=1 j=2}}") == "1 2");        // case B: raised
}

TEST_CASE("expressions of cells and counts follow the rules of arithmetic") {
    CHECK(resolved("{{exp(m_old[2] - m_i[2]) @ line=9 i=1 j=2}}") == "0.368");
    CHECK(resolved("{{2 + 3 * 4 - 6 / 2}} {{(2 + 3) * 4}} {{-2 - -3}} {{max(1, min(5, 4))}} {{ceil(7 / 2)}}") ==
          "11 20 1 4 4");
    CHECK(resolved("{{sqrt(16) + abs(-2) + log(exp(3))}}") == "9");
    CHECK(resolved("{{O_i[2,1] @ line=10 i=1 j=2 / l_i[2] @ line=10 i=1 j=2}}") ==
          resolved("{{O_i[2,1] @ line=12 i=1}}"));
    CHECK(resolved("{{1 < 2}} {{2 <= 1}} {{1 = 1 and 2 != 2}} {{step(line=9 i=1 j=2) > step(line=8 i=1 j=2)}}") ==
          "1 0 0 1");
    CHECK(resolved("{{steps}} {{problem:n + problem:d}} {{problem:tr}} {{problem:element_bytes}}") == "34 7 2 4");
}

TEST_CASE("what is known of a GPU comes from its table") {
    CHECK(resolved("{{gpu(A100):sms}} {{gpu(A100):fp16_flops | TFLOP}}/s {{gpu(A100):fp32_flops | TFLOP}}/s") ==
          "108 312 TFLOP/s 19.5 TFLOP/s");
    CHECK(resolved("{{gpu(A100):fp16_flops / gpu(A100):fp32_flops}} {{gpu(RTX4090):l2_bytes | bytes}}") == "16 72 MiB");
    CHECK(resolved("{{gpu(A100):shared_bytes_of_block | KiB}} {{4096 / gpu(T4):sms | 2 digits}}") == "163 KiB 100");
    CHECK(resolved("{{gpu(A100):fp32_lanes}} {{gpu(H100):fp32_lanes}} {{gpu(H100):special_lanes}}") == "64 128 16");
    CHECK(refused("{{gpu(V100):sms}}").find("no GPU called V100 | There are T4, A100, RTX 3090") != std::string::npos);
    CHECK(refused("{{gpu(A100):price}}").find("gpu:price | There are sms, bandwidth") != std::string::npos);
    CHECK(refused("{{gpu:sms}}").find("'[' is missing") != std::string::npos);
}

TEST_CASE("an algorithm on a GPU is what the model says of it") {
    const std::string scenes =
        "[scenes.main]\npreset = \"n4d3\"\n[scenes.long]\nn = 8192\nd = 64\nheads = 16\nbr = 128\nbc = 128\n"
        "dtype = \"fp16\"\n[scenes.fa1]\nalgorithm = \"fa1_forward\"\nn = 8192\nd = 64\nheads = 16\nbr = 64\nbc = 64\n"
        "dtype = \"fp16\"\n[scenes.plain]\nalgorithm = \"standard_attention\"\n[scenes.large]\nn = 512\nd = 128\n"
        "br = 256\nbc = 256\n";
    CHECK(resolved("{{long:model(A100):blocks}} {{long:model(A100):blocks_per_sm}} {{long:model(A100):waves}} "
                   "{{long:model(A100):last_wave}} {{long:model(A100):idle_sms_at_end}}",
                   scenes) == "1,024 1 10 52 56");
    CHECK(resolved("{{fa1:model(A100):blocks}} {{fa1:model(A100):busy_sms}} {{fa1:model(A100):idle_sms}}", scenes) ==
          "16 16 92");
    Problem p = find_preset("n4d3")->problem;
    p.n = p.nk = 8192, p.d = p.dv = 64, p.scale = 0.125, p.heads = p.kv_heads = 16, p.br = p.bc = 128;
    p.dtype = DType::Fp16;
    const GpuModel model = model_of(*find_algorithm("fa2_forward"), *find_gpu("A100"), p);
    CHECK(resolved("{{long:model(A100):seconds | 4 digits ms}} {{long:model(A100):occupancy | %}}", scenes) ==
          fmt::format("{:.3f} ms {}%", model.estimate.seconds() * 1e3, 100 * model.kernels->occupancy.fraction));
    CHECK(refused("{{plain:model(A100):waves}}", scenes).find("standard_attention is not modelled") !=
          std::string::npos);
    CHECK(refused("{{large:model(A100):waves}}", scenes).find("bytes of shared memory") != std::string::npos);
    CHECK(refused("{{model(A100):price}}").find("model:price | There are blocks, blocks_per_sm") != std::string::npos);
    CHECK(refused("{{model(V100):waves}}").find("no GPU called V100") != std::string::npos);
}

TEST_CASE("rows of shared memory meet in banks as the executor counts it") {
    CHECK(resolved("{{wavefronts(128, 1, 1)}} {{wavefronts(128, 1, 8)}} {{wavefronts(64, 1, 4)}} "
                   "{{wavefronts(64, 2, 4)}} {{wavefronts(144, 1, 1)}}") == "8 1 2 1 1");
    CHECK(refused("{{wavefronts(100, 1, 1)}}").find("a multiple of 16") != std::string::npos);
    CHECK(refused("{{wavefronts(64, 1, 8)}}").find("within a row") != std::string::npos);
    CHECK(refused("{{wavefronts(64, 0, 4)}}").find("go from 1") != std::string::npos);
}

TEST_CASE("a number can be rounded to a format of 16 bits") {
    CHECK(resolved("{{fp16(65519) | 5 digits}} {{fp16(65520)}} {{fp16(2049) | 5 digits}} {{bf16(257)}}") ==
          "65504 ∞ 2048 256");
    CHECK(resolved("{{fp32(16777217) | 8 digits}} {{fp32(16777215) | 8 digits}}") == "16777216 16777215");
    CHECK(resolved("{{fp16(exp(-1)) | 7 digits}} {{bf16(exp(-1)) | 7 digits}}") == "0.3679199 0.3671875");
}

TEST_CASE("where a number format ends is a number to be quoted and calculated with") {
    CHECK(resolved("{{format:fp16.largest}} {{format:fp32.largest}} {{format:bf16.largest}}") ==
          "65,504 3.40×10³⁸ 3.39×10³⁸");
    CHECK(resolved("{{log(format:fp32.largest)}} {{log(format:fp16.largest) | 4 digits}}") == "88.7 11.09");
    CHECK(resolved("{{format:fp32.least}} {{format:fp16.epsilon | 4 digits}}") == "1.40×10⁻⁴⁵ 0.0009766");
    CHECK(refused("{{format:fp8.largest}}").find("no number format is called fp8 | There are exact, fp32") !=
          std::string::npos);
    CHECK(refused("{{format:fp16.widest}}").find("has no 'widest' | There are largest, least, epsilon") !=
          std::string::npos);
    CHECK(refused("{{format:fp16}}").find("has no ''") != std::string::npos);
}

TEST_CASE("a scene's cells and counts are named by it") {
    const std::string scenes =
        "[scenes.main]\npreset = \"n4d3\"\n[scenes.wrong]\nfault = \"no-rescale\"\n"
        "[scenes.large]\npreset = \"n64\"\n[scenes.huge]\nn = 16384\nd = 64\nbr = 128\nbc = 128\n";
    CHECK(resolved("{{O_i[2,1] @ line=10 i=1 j=2}} {{wrong:O_i[2,1] @ line=10 i=1 j=2}}", scenes) == "2.50 3.14");
    CHECK(resolved("{{wrong:O[2,1]}} {{wrong:hidden}} {{hidden}}", scenes) == "1.91 0 0");
    CHECK(resolved("{{large:problem:n}} {{problem:n}} {{large:steps}}", scenes) == "64 4 108");
    // Counted from shapes: nobody waits for a recording of it.
    CHECK(resolved("{{huge:bytes:K.read | GB}}", scenes) == "0.537 GB");
    CHECK(refused("{{rong:O[1,1]}}", scenes).find("no scene called rong | It has main, wrong, large, huge") !=
          std::string::npos);
}

TEST_CASE("bytes are the algorithm's own, another's, or those of what the run is measured by") {
    const Problem p = find_preset("n4d3")->problem;
    const auto total = [&](std::string_view id) {
        const Traffic t = count(*find_algorithm(id), p).traffic;
        return fmt::format("{}", t.hbm_read + t.hbm_write);
    };
    CHECK(resolved("{{bytes:Q.read}} {{bytes:Q.write}} {{bytes:K}}") == "48 0 96");
    CHECK(resolved("{{bytes:all}}") == total("fa2_forward"));
    CHECK(resolved("{{bytes:all.read + bytes:all.write}}") == total("fa2_forward"));
    CHECK(resolved("{{bytes(fa1_forward):all}}") == total("fa1_forward"));
    CHECK(resolved("{{bytes(fa1_forward):l.read}}") == "32");
    CHECK(resolved("{{bytes(fa1_forward):O.init}}") == "48");
    CHECK(resolved("{{bytes:standard}}") == total("standard_attention"));
    CHECK(resolved("{{flops:matmul}} {{memory(standard_attention):extra}}") == "192 128");
    CHECK(resolved("{{sram:peak}}") == "152");
    CHECK(resolved("{{sram:barriers}}", "[scenes.main]\npreset = \"warps_split_k\"\n") == "6");
}

TEST_CASE("a count with a place is what the run has counted up to there") {
    CHECK(resolved("{{flops:matmul @ start}} {{flops:matmul @ line=8 i=1 j=1}} {{flops:matmul @ line=10 i=1 j=1}}") ==
          "0 24 48");
    // Line 9: rowmax, subtract, exp, rowsum for each of 4 scores; maximum, factor (2), l (2) for each of 2 rows.
    CHECK(resolved("{{flops:other @ line=9 i=1 j=1 - flops:other @ line=8 i=1 j=1}}") == "26");
    CHECK(resolved("{{(flops:other - flops:exp) @ line=9 i=1 j=1}}") == "24");
    CHECK(resolved("{{bytes:all @ line=7 i=1 j=1}} {{sram:barriers @ end}}") == "72 0");
    CHECK(resolved("{{flops:all @ end}} {{bytes:all @ end}}") == resolved("{{flops:all}} {{bytes:all}}"));
    CHECK(resolved("{{(flops:exp + problem:n * bytes:all) @ start}}") == "0");
    CHECK(places_of(parse_expression("flops:other @ line=9 i=1 j=1")).size() == 1);
    CHECK(refused("{{bytes:K @ end}}").find("there is no bytes:K up to a place | There are all") != std::string::npos);
    CHECK(refused("{{flops(fa1_forward):all @ end}}").find("has no steps in the scene") != std::string::npos);
}

TEST_CASE("a backward run is measured by the standard backward pass, not by a forward one") {
    const Problem p = find_preset("n4d3_backward")->problem;
    const Traffic t = count(*find_algorithm("standard_backward"), p).traffic;
    CHECK(resolved("{{bytes:standard}}", kBackward) == count_text(t.hbm_read + t.hbm_write));
    CHECK(resolved("{{bytes:standard}}", kBackward) == resolved("{{bytes(standard_backward):all}}", kBackward));
    CHECK(resolved("{{bytes:standard}}", kBackward) != resolved("{{bytes(standard_attention):all}}", kBackward));
}

TEST_CASE("a kernel's counters are those of the scene's run of it") {
    const Preset& preset = *find_preset("n4d3");
    const KernelRun run =
        gpu::run_kernel(*gpu::find_kernel(preset.kernel), preset.problem, preset.inputs(preset.problem), {});
    for (const auto& counter : run.counters) {  // clang 14 captures no structured binding in a message
        const std::string& name = counter.first;
        const std::int64_t value = counter.second;
        CAPTURE(name);
        CHECK(resolved("{{kernel:" + name + "}}") == count_text(value));
        CHECK(resolved("{{kernel:" + name + " + 1}}") == count_text(value + 1));
    }
    CHECK(resolved("{{kernel:HBM bytes}} {{kernel:HBM bytes read of K}} {{kernel:HBM bytes written of L}}") ==
          resolved("{{bytes:all}} {{bytes:K.read}} {{bytes:L.write}}"));
    // Its threads load Q for each score that they compute: 16 scores, 3 numbers each.
    CHECK(resolved("{{kernel:HBM bytes read of Q}} {{bytes:Q.read}}",
                   "[scenes.main]\npreset = \"n4d3\"\nalgorithm = \"standard_attention\"\n"
                   "kernel = \"standard_1_naive\"\n") == "192 48");
    CHECK(refused("{{kernel:shared wavefront}}").find("There are \"block barriers\"") != std::string::npos);
    CHECK(refused("{{kernel:shuffles}}", "[scenes.main]\npreset = \"n4d3\"\nkernel = \"\"\n")
              .find("the scene has no kernel") != std::string::npos);
}

TEST_CASE("a kernel without one of its waits is caught, one with all of them or without another line is not") {
    const auto scene = [](const std::string& more) {
        return "[scenes.main]\npreset = \"n4d3\"\n[scenes.torn]\nkernel = \"fa2_forward_1_tile\"\n" + more;
    };
    int caught = 0;
    for (int line = 40; line < 125; ++line)
        caught += resolved("{{torn:caught}}", scene(fmt::format("without_line = {}\n", line))) == "1";
    CHECK(caught == 4);  // behind lines 7 to 10; the barrier before the loop is for row blocks that see no key
    CHECK(resolved("{{caught}}{{torn:caught}}", scene("")) == "00");
}

TEST_CASE("numbers look as in the cells, or as the reference says") {
    struct Row {
        double value;
        const char *style, *text, *formula;
    };
    for (const Row& row : {
             Row{0.5, "", "0.5", "0.5"},
             Row{2.503, "", "2.50", "2.50"},
             Row{-1.78555, "", "−1.79", "-1.79"},
             Row{0.000123456, "", "0.000123", "0.000123"},
             Row{1.5e-7, "", "1.5×10⁻⁷", "1.5 \\times 10^{-7}"},
             Row{1234567.0, "", "1.23×10⁶", "1.23 \\times 10^{6}"},
             Row{123456.0, "", "123000", "123000"},
             Row{0.0, "", "0", "0"},
             Row{2.50321, "5 digits", "2.5032", "2.5032"},
             Row{4379000000.0, "4 digits GB", "4.379 GB", "4.379 GB"},
             Row{1536.0, "bytes", "1.5 KiB", "1.5 KiB"},
             Row{2.0 / 3, "2 digits x", "0.67×", "0.67\\times"},
             Row{0.125, "%", "12.5%", "12.5\\%"},
             Row{6.69e-5, "3 digits µs", "66.9 µs", "66.9 µs"},
             Row{4.0e-8, "2 digits ns", "40 ns", "40 ns"},
             Row{std::nan(""), "", "NaN", "NaN"},
             Row{kInf, "", "∞", "\\infty"},
         }) {
        const NumberStyle style = parse_expression(row.style[0] ? std::string("x[1] | ") + row.style : "x[1]").style;
        CAPTURE(row.style);
        CHECK(number_text(row.value, style, Within::Text) == row.text);
        CHECK(number_text(row.value, style, Within::Formula) == row.formula);
    }
    // Counts stand in full, with separators in a text.
    const NumberStyle count = parse_expression("bytes:all * 2").style;
    CHECK(number_text(1234567, count, Within::Text) == "1,234,567");
    CHECK(number_text(1234567, count, Within::Formula) == "1234567");
    CHECK(parse_expression("bytes:all / 2").style.unit == NumberStyle::Unit::None);
}

TEST_CASE("a wrong reference is refused with its file and line, and with what there is") {
    struct Row {
        const char *reference, *says;
    };
    for (const Row& row : {
             Row{"Z[1,1]", "fa2_forward knows no Z | It has Q, K, V, O, L, Q_i"},
             Row{"S_ij[1,2]", "written for more than one i, and no place is said"},
             Row{"S_ij[3,1] @ line=8 i=1 j=1", "S_ij has 2 x 2 cells there"},
             Row{"S_ij[1,1] @ line=8 i=3 j=1", "line=8 i=3 j=1 is nowhere in fa2_forward | Line 8 is run at i=1 j=1; "},
             Row{"S_ij[1,1] @ line=8 i=1", "line=8 i=1 is 2 steps in fa2_forward"},
             Row{"S_ij[1,1] @ line=11", "line 11 of fa2_forward is not run | Lines that are: 3, 4, 5"},
             Row{"S_ij[1,1] @ line=7 i=1 j=1", "S_ij is not on chip there"},
             Row{"S_ij[1,1] @ line=12 i=1", "S_ij is not on chip there"},
             Row{"O[1,1] @ line=12 i=1", "O[1,1] is not yet written there"},
             Row{"O[1,4]", "O has 4 x 3 cells"},
             Row{"O[0,1]", "rows and columns count from 1"},
             Row{"O", "'[' is missing, at the end"},
             Row{"", "a number is missing"},
             Row{"O[1,1] + ", "a number is missing"},
             Row{"O[1,1] O[1,2]", "this cannot be read, at 'O[1,2]'"},
             Row{"exp(O[1,1]", "')' is missing"},
             Row{"O[1,1] | 99 digits", "digits go from 1 to 17"},
             Row{"O[1,1] | furlongs", "the unit is unknown"},
             Row{"bytes:W", "no matrix in HBM is called W | There are all, standard, K, L, O, Q, V"},
             Row{"bytes:Q.sum", "bytes have no part called sum"},
             Row{"bytes(fa9):all", "there is no algorithm called fa9"},
             Row{"flops:mma", "there is no flops:mma | There are all, matmul, other, exp"},
             Row{"O[1,1] @ k=1", "is no part of a place"},
             Row{"S_ij[1,1] @ line=8 i=0 j=1", "count from 1"},
         }) {
        const std::string error = refused("one\n\ntwo {{" + std::string(row.reference) + "}}");
        CAPTURE(row.reference);
        CHECK_MESSAGE(error.find(row.says) != std::string::npos, error);
        CHECK_MESSAGE(error.starts_with("lessons/06_small/en.md:14: {{"), error);
    }
    CHECK(refused("{{O[1,1]").find("a reference has no end") != std::string::npos);
}

TEST_CASE("a place is found by its line and loops, and written as it is read") {
    for (const char* text : {"start", "end", "line=9 i=1 j=2", "scene=wrong line=12 i=2", "line=4 i=1 warp=3"})
        CHECK(place_text(parse_place(text)) == text);
    CHECK(parse_place("line=9,i=1,j=2") == parse_place("line=9 i=1 j=2"));
    const Link link = parse_link("line=8,i=1,j=2,cell=S_ij[1,2]");
    CHECK(link.cell == CellName{"S_ij", 0, 1});
    CHECK(link.place == parse_place("line=8 i=1 j=2"));
    CHECK(parse_link("lesson=online").lesson == "online");
    CHECK(parse_link("preset=n64").preset == "n64");
    for (const char* wrong : {"", "i=1", "line=0", "line=x", "line=9 start", "start end=1", "lesson=a line=3",
                              "preset=a lesson=b", "cell=S_ij", "step=4", "scene= line=4"}) {
        CAPTURE(wrong);
        CHECK_THROWS_AS(parse_link(wrong), Error);
    }
}
