// The command line: what was typed, the command that runs, and its exit status.
#include "cli/cli.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <new>

#include "cli/commands.h"
#include "cli/names.h"
#include "cli/output.h"
#include "core/io/file.h"

namespace flashstep::cli {
namespace {

// In the order of the help.
constexpr std::array kCommands = {&kList, &kLesson, &kTrace,  &kCount,  &kSweep, &kModel,      &kCheck,
                                  &kShot, &kBench,  &kDevice, &kRecord, &kNcu,   &kBenchTable, &kPtx};

constexpr const char* kHowToGetTheWindow =
    "the window needs a display: run it from a desktop session, over ssh -X, or take a picture with `flashstep shot`";

// The option or command that was not expected, with the nearest one that exists.
Error unexpected(const CLI::App& app) {
    const CLI::App* command = &app;
    for (const CLI::App* sub : app.get_subcommands()) command = sub;
    const std::vector<std::string> rest = app.remaining(true);
    const std::string word = rest.empty() ? "" : rest.front().substr(0, rest.front().find('='));
    std::vector<std::string> names;
    if (word.starts_with("-"))
        for (const CLI::Option* option : command->get_options())
            for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    else if (command == &app)
        for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
            names.push_back(sub->get_name());
    const std::vector<std::string_view> known(names.begin(), names.end());
    if (known.empty())
        return Error(fmt::format("{} takes no further argument, but got {}", command->get_name(), io::quoted(word)));
    return unknown_name(word.starts_with("-") ? "option" : "command", word, known);
}

int run_bare(const WindowHooks* window) {
    if (window && window->display_available()) return window->run_app(StartState());
    const int status = print_first_walkthrough();
    print_note(window ? kHowToGetTheWindow
                      : "this build has no window (FLASHSTEP_VIZ=OFF); build with -DFLASHSTEP_VIZ=ON to get it");
    return status;
}

int parse_and_run(int argc, char** argv, const WindowHooks* window) {
    CLI::App app(
        "FlashAttention step by step, checked against the CUDA kernels that do the same work.\n"
        "Without a command: opens the app, or prints its first lesson where there is no display.",
        "flashstep");
    app.require_subcommand(0, 1);
    app.footer("Exit status: 0 done, 1 a kernel differs, 2 wrong use, 77 not available on this machine.");
    const Start start{window, std::vector<std::string>(argv, argv + argc)};
    std::vector<std::pair<CLI::App*, Action>> actions;
    for (const Command* command : kCommands) {
        CLI::App* sub = app.add_subcommand(command->name, command->help);
        actions.emplace_back(sub, command->add(Options(*sub), start));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp& help) {
        return app.exit(help);  // prints to standard output
    } catch (const CLI::ExtrasError&) { throw unexpected(app); } catch (const CLI::ParseError& error) {
        throw Error(error.what());
    }
    for (const auto& [command, action] : actions)
        if (command->parsed()) return action();
    return run_bare(window);
}

}  // namespace

int run(int argc, char** argv, const WindowHooks* window) {
    try {
        return parse_and_run(argc, argv, window);
    } catch (const Error& error) { print_error(error); } catch (const std::bad_alloc&) {
        print_error(Error("not enough memory", "use a smaller problem or file, or `count`, which needs no values"));
    } catch (const std::exception& error) { print_error(Error(error.what())); }
    return kWrongUse;
}

}  // namespace flashstep::cli
