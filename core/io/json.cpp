// JSON helpers.
#include "core/io/json.h"

#include <cmath>

namespace flashstep::io {

Json json_number(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return value;
}

Json json_matrix(const Matrix& values) {
    Json rows = Json::array();
    for (Eigen::Index r = 0; r < values.rows(); ++r) {
        Json row = Json::array();
        for (Eigen::Index c = 0; c < values.cols(); ++c) row.push_back(json_number(values(r, c)));
        rows.push_back(std::move(row));
    }
    return rows;
}

std::string json_text(const Json& json, int indent) {
    return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace flashstep::io
