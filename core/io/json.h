// JSON values whose keys keep their order, and numbers that JSON cannot hold as strings.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/matrix.h"

namespace flashstep::io {

using Json = nlohmann::ordered_json;

Json json_number(double value);          // a number; "inf", "-inf", "nan" as strings
Json json_matrix(const Matrix& values);  // an array of rows
// Text in UTF-8 with bytes that are not replaced; indented by `indent`, or on one line if that is -1.
std::string json_text(const Json& json, int indent = 2);

}  // namespace flashstep::io
