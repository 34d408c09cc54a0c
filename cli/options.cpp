// Options by way of CLI11.
#include "cli/options.h"

#include <CLI/CLI.hpp>

namespace flashstep::cli {
namespace {

constexpr const char* kProblemGroup = "Problem";
constexpr const char* kNoValue = "true";  // what CLI11 gives a flag without a value

}  // namespace

void Options::text(const char* name, std::string& value, const std::string& help, const char* type) const {
    CLI::Option* option = command_->add_option(name, value, help);
    if (*type) option->type_name(type);
}

void Options::texts(const char* name, std::vector<std::string>& values, const std::string& help) const {
    command_->add_option(name, values, help);
}

void Options::flag(const char* name, bool& value, const std::string& help) const {
    command_->add_flag(name, value, help);
}

void Options::flag_or_value(const char* name, std::optional<std::string>& value, const std::string& help,
                            std::function<void(const std::string&)> check) const {
    command_->add_flag(name)->description(help)->each([&value, check = std::move(check)](const std::string& text) {
        value = text == kNoValue ? std::string() : text;
        if (!value->empty()) check(*value);
    });
}

void Options::problem(const std::string& name, const char* type, const std::string& help,
                      std::function<void(const std::string&)> typed) const {
    command_->add_option_function<std::string>(name, std::move(typed), help)
        ->trigger_on_parse()
        ->type_name(type)
        ->group(kProblemGroup);
}

void Options::problem_switch(const std::string& word, const std::string& help, std::function<void(bool)> typed) const {
    command_
        ->add_flag_function(
            "--" + word + ",!--no-" + word, [typed = std::move(typed)](std::int64_t on) { typed(on > 0); }, help)
        ->disable_flag_override()
        ->trigger_on_parse()
        ->group(kProblemGroup);
}

void Options::footer(const std::string& text) const { command_->footer(text); }

std::vector<std::string> Options::given() const {
    std::vector<std::string> names;
    for (const CLI::Option* option : command_->get_options())
        if (option->count() > 0) names.push_back(option->get_single_name());
    return names;
}

}  // namespace flashstep::cli
