// Texts of the interface. One is a line, in both languages: `constexpr Text kPlay{"Play", "播放"};`, drawn as
// `ui.tr(kPlay)`. It stands at the top of the file that draws it; here are those that several files draw.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "core/text.h"

namespace flashstep::viz {

// Between what is joined.
inline constexpr Text kComma{", ", "，"};
inline constexpr Text kColon{": ", "："};

// {name} in a text is a placeholder for fill().
inline constexpr Text kLesson{"Lesson", "课程"};
inline constexpr Text kAlgorithm{"Algorithm", "算法"};
inline constexpr Text kKernel{"Kernel", "Kernel"};
inline constexpr Text kNone{"none", "无"};
inline constexpr Text kHelp{"Help", "帮助"};
inline constexpr Text kSram{"SRAM", "片上 SRAM"};
inline constexpr Text kLineN{"line {line}", "第 {line} 行"};
inline constexpr Text kNotModelled{"not modelled", "未建模"};
inline constexpr Text kExponentials{"exponentials", "指数运算次数"};
inline constexpr Text kRowColumn{"row {row}, column {column}", "第 {row} 行，第 {column} 列"};
inline constexpr Text kWrittenAt{"written at step {step}, line {line}", "由第 {step} 步（伪代码第 {line} 行）写入"};
inline constexpr Text kOperands{"Operands", "操作数"};
inline constexpr Text kKernelHostChosen{"kernel on this CPU", "在本机 CPU 上运行的 kernel"};
inline constexpr Text kMatchOk{"OK {error}", "一致 {error}"};
inline constexpr Text kMatchDiffers{"differs", "不一致"};
inline constexpr Text kMatchNonFinite{"non-finite values", "出现非有限值"};
inline constexpr Text kTolerance{"tolerance", "容差"};
inline constexpr Text kKernelValue{"kernel", "kernel"};
inline constexpr Text kEmptyTrace{"Nothing has run yet. Choose an algorithm with Ctrl+P.",
                                  "还没有运行任何算法。按 Ctrl+P 选择。"};
inline constexpr Text kDismiss{"Dismiss", "关闭"};
inline constexpr Text kPreset{"Preset", "预设"};
inline constexpr Text kKernelNo{"no kernel", "无 kernel"};
inline constexpr Text kMatchBytesDiffer{"bytes differ", "字节数不一致"};
inline constexpr Text kKeyLanguage{"English, Chinese", "切换中英文"};
inline constexpr Text kKeyTheme{"dark, light", "切换深色、浅色主题"};
inline constexpr Text kKeyTimeline{"drag: move; wheel: zoom; double click: all", "拖动移动，滚轮缩放，双击看全部"};
inline constexpr Text kCellGiven{"given as input", "作为输入给定"};
inline constexpr Text kDifference{"difference", "误差"};
inline constexpr Text kGoThere{"Go there", "跳到那里"};
inline constexpr Text kFaultOn{"A mistake is on, in line {line}: {title}.",
                               "伪代码第 {line} 行人为引入了一处错误：{title}。"};
inline constexpr Text kBase2{"base-2 exp", "以 2 为底的指数"};
inline constexpr Text kEmptySource{"This algorithm has no CUDA kernel.", "这个算法没有对应的 CUDA kernel。"};
inline constexpr Text kRunsOn{"Runs on", "运行在"};
inline constexpr Text kBytesThree{
    "Requested, L2 and DRAM bytes are three different numbers. These are the bytes that the algorithm requests from "
    "HBM. On a GPU the L2 cache serves a part of them, and DRAM sees the rest. Neither L2 nor DRAM bytes are measured "
    "here.",
    "请求的字节数、L2 的字节数、DRAM 的字节数是三个不同的数。这里统计的是算法向 HBM 请求的字节数；在 GPU "
    "上，其中一部分由 L2 缓存满足，其余才到达 DRAM。L2 和 DRAM 的字节数这里都没有测量。"};

using Placeholder = std::pair<std::string_view, std::string_view>;
// `text` with {name} replaced; a placeholder that is not given stays as it is.
std::string fill(std::string_view text, std::initializer_list<Placeholder> values);

}  // namespace flashstep::viz
