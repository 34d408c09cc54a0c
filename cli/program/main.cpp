// The program.
#include "cli/cli.h"

int main(int argc, char** argv) { return flashstep::cli::run(argc, argv, flashstep::cli::window_hooks()); }
