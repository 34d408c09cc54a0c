#!/usr/bin/env bash
# Installs what is missing, builds flashstep (Release, into build/) and runs it: ./run.sh [ARGUMENTS OF flashstep]
# Everything but the program's own output goes to standard error. FLASHSTEP_NO_INSTALL=1 leaves the packages alone,
# FLASHSTEP_CUDA=OFF leaves the CUDA back end out, which takes nvcc minutes to compile for all its targets.
set -euo pipefail
from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
source cmake/packages.sh

install_packages "${packages_run[@]}"
[[ ! -e build || -w build ]] || fail "$PWD/build is not writable by $(id -un); remove it or change its owner"
configure release build -DFLASHSTEP_TESTS=OFF "-DFLASHSTEP_CUDA=${FLASHSTEP_CUDA:-AUTO}" || fail "cmake failed (see above)"
[[ -x build/bin/flashstep ]] || say "building; the first time takes some minutes"
build build --target flashstep || fail "the build failed (see above)"
give_back build

program=$PWD/build/bin/flashstep
cd "$from" # file names among the arguments are the caller's
exec "$program" "$@"
