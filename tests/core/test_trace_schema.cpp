// trace --json against its schema: every key that is written is described, and what is described is written.
#include <doctest/doctest.h>

#include <fstream>
#include <set>

// g++ 12 with -fsanitize finds uninitialised members in its own <regex>, which valijson reads.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "core/algorithms.h"
#include "core/io/trace_json.h"
#include "lab/presets.h"
#include "tests/program.h"

using namespace flashstep;
using Json = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

namespace {

Json schema_json() {
    std::ifstream file(std::string(FLASHSTEP_SOURCE_DIR) + "/core/io/trace.schema.json");
    return Json::parse(file);
}

class Schema {
  public:
    explicit Schema(const Json& json) { valijson::SchemaParser().populateSchema(Adapter(json), schema_); }

    // What is wrong with a document; empty if nothing is.
    std::string fault_of(const Json& document) const {
        valijson::ValidationResults results;
        valijson::Validator validator;
        if (validator.validate(schema_, Adapter(document), &results)) return {};
        std::string text = "refused";
        valijson::ValidationResults::Error error;
        while (results.popError(error)) {
            text += "\n";
            for (const std::string& part : error.context) text += part;
            text += ": " + error.description;
        }
        return text;
    }

  private:
    valijson::Schema schema_;
};

Json output_of(const Algorithm& algorithm, const Problem& problem, const Inputs& inputs) {
    return Json::parse(io::json_text(io::trace_json(algorithm, record(algorithm, problem, inputs)), -1));
}

std::vector<Problem> example_problems() {
    std::vector<Problem> problems(4, find_preset("n4d3")->problem);
    problems[1].causal = true, problems[1].nk = 5, problems[1].base2 = true;
    problems[2].batch = 2, problems[2].heads = 4, problems[2].kv_heads = 2, problems[2].dtype = DType::Fp16;
    problems[2].mask = MaskShape::Keys;
    problems[3].mask = MaskShape::Scores, problems[3].sram_bytes = 1 << 20, problems[3].dtype = DType::Exact;
    return problems;
}

// Every object of a document, and a document without one of its keys, or with one more.
template <typename Visit>
void each_object(const Json& root, const Json::json_pointer& at, const Visit& visit) {
    const Json& here = root.at(at);
    if (here.is_object()) visit(at);
    if (here.is_object())
        for (const auto& [key, value] : here.items()) each_object(root, at / key, visit);
    if (here.is_array())
        for (std::size_t k = 0; k < here.size(); ++k) each_object(root, at / k, visit);
}

// All keys below every "properties" of a schema.
void described_keys(const Json& json, std::set<std::string>& keys) {
    if (json.is_object() && json.contains("properties"))
        for (const auto& [key, value] : json.at("properties").items()) keys.insert(key);
    if (json.is_structured())
        for (const Json& part : json) described_keys(part, keys);
}

}  // namespace

TEST_CASE("the JSON of every algorithm keeps to its schema") {
    const Schema schema(schema_json());
    for (const Algorithm& algorithm : algorithms())
        for (const Problem& problem : example_problems()) {
            CAPTURE(algorithm.id);
            CHECK(schema.fault_of(output_of(algorithm, problem, make_inputs(problem))) == "");
        }
    Inputs inputs = make_inputs(example_problems()[0]);
    inputs.V[0](0, 0) = std::nan(""), inputs.Q[0](0, 0) = kInf;
    CHECK(schema.fault_of(output_of(*find_algorithm("fa2_forward"), example_problems()[0], inputs)) == "");
    const auto printed = testing::run_program({"trace", "warps_split_q", "--preset", "n4d3", "--json"});
    CHECK(schema.fault_of(Json::parse(printed.out)) == "");
}

TEST_CASE("a document with a key too many or too few, or another type, is refused") {
    const Schema schema(schema_json());
    Json good = output_of(*find_algorithm("fa2_forward"), example_problems()[1], make_inputs(example_problems()[1]));
    good.at("steps").erase(good.at("steps").begin() + 12, good.at("steps").end());
    REQUIRE(schema.fault_of(good) == "");
    const std::set<std::string> optional = {"tile"};
    int refused = 0;
    each_object(good, Json::json_pointer(), [&](const Json::json_pointer& at) {
        CAPTURE(at.to_string());
        Json more = good;
        more.at(at)["undescribed"] = 1;
        CHECK(schema.fault_of(more) != "");
        for (const auto& item : good.at(at).items()) {
            const std::string key = item.key();
            CAPTURE(key);
            Json less = good, other = good;
            less.at(at).erase(key);
            if (!optional.contains(key)) CHECK(schema.fault_of(less) != "");
            other.at(at)[key] = Json::object({{"undescribed", 1}});
            CHECK(schema.fault_of(other) != "");
            ++refused;
        }
    });
    CHECK(refused > 100);
    const std::pair<const char*, Json> wrong[] = {{"/problem/n", 0},
                                                  {"/problem/n", 4.5},
                                                  {"/problem/dtype", "fp8"},
                                                  {"/problem/scale", "infinite"},
                                                  {"/lines/0/kind", "comment"},
                                                  {"/tensors/0/space", "sram"},
                                                  {"/steps", Json::array()},
                                                  {"/steps/1/line", "3"},
                                                  {"/steps/1/i0", -1},
                                                  {"/steps/0/writes/0/values", Json::array()},
                                                  {"/steps/0/writes/0/values/0/0", nullptr}};
    for (const auto& row : wrong) {
        const std::string place = row.first;
        CAPTURE(place);
        Json bad = good;
        bad.at(Json::json_pointer(place)) = row.second;
        CHECK(schema.fault_of(bad) != "");
    }
}

TEST_CASE(
    "every key of the schema has a description and appears in some output, and no rule of it is one that the "
    "validator passes over") {
    const std::set<std::string> known = {"$schema",     "title",   "description", "type",        "properties",
                                         "required",    "minimum", "minItems",    "minLength",   "additionalProperties",
                                         "definitions", "$ref",    "enum",        "const",       "items",
                                         "oneOf",       "anyOf",   "allOf",       "dependencies"};
    const Json schema = schema_json();
    each_object(schema, Json::json_pointer(), [&](const Json::json_pointer& at) {
        const Json& here = schema.at(at);
        CAPTURE(at.to_string());
        const bool names_keys = !at.empty() && (at.back() == "properties" || at.back() == "definitions");
        if (names_keys)
            for (const auto& item : here.items()) {
                const std::string key = item.key();
                CAPTURE(key);
                CHECK(item.value().value("description", "").size() > 3);
            }
        else if (at.empty() || at.back() != "dependencies")
            for (const auto& item : here.items()) CHECK_MESSAGE(known.contains(item.key()), item.key());
        if (!names_keys && here.contains("properties")) CHECK(here.value("additionalProperties", true) == false);
    });
    std::set<std::string> described, written;
    described_keys(schema, described);
    const auto collect = [&](const Json& document) {
        each_object(document, Json::json_pointer(), [&](const Json::json_pointer& at) {
            for (const auto& [key, value] : document.at(at).items()) written.insert(key);
        });
    };
    Inputs inputs = make_inputs(example_problems()[0]);
    inputs.V[0](0, 0) = std::nan("");
    collect(output_of(*find_algorithm("fa2_forward"), example_problems()[0], inputs));
    CHECK(described == written);
}
