// Changes of the inputs as a person types them, without drawing: text in, a new request to the session or an error out.
#pragma once

#include <string>
#include <string_view>

#include "lab/session.h"

namespace flashstep::viz {

enum class Field { N, Nk, D, Dv, Br, Bc, Scale, Seed, Batch, Heads, KvHeads, Sram };
constexpr int kFields = 12;

// The field's value as it is typed.
std::string field_text(const Problem& problem, Field field);

// `problem` with one field changed; what follows it as long as both are equal (Nk follows N, d_v follows d, the K, V
// heads follow the heads; tau stays 1/sqrt(d) if it was) changes too. Throws Error: no number, out of range.
Problem with_field(const Problem& problem, Field field, std::string_view text);

// A number with nothing behind it; U+2212 is a minus, U+221E infinity. Throws Error.
double parse_number(std::string_view text);

// A number as it is typed and shown in a cell: "−∞", "NaN", the shortest text otherwise.
std::string cell_text(double value);

// Takes a matrix from a .npy or .csv file, and the sizes with it; a mask of one row or one column masks keys, another
// one scores. Throws Error; the session is asked for nothing then.
void load_matrix(Session& session, InputMatrix which, const std::string& path);

bool default_scale(const Problem& problem);  // tau is 1/sqrt(d)

}  // namespace flashstep::viz
