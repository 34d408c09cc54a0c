#!/usr/bin/env bash
# Installs what is missing, builds flashstep (Release, into build/) and runs it: ./run.sh [ARGUMENTS OF flashstep]
# Everything but the program's own output goes to standard error. FLASHSTEP_NO_INSTALL=1 leaves the packages alone.
# The CUDA back end is compiled where there is a device, and for that device alone. FLASHSTEP_CUDA=ALL compiles it for all
# targets, which takes nvcc minutes; ON for the device here, or for all where there is none; OFF leaves it out.
set -euo pipefail
from=$PWD
cd "$(dirname "${BASH_SOURCE[0]}")"
source cmake/packages.sh

# The architectures of the devices here, as CMake takes them ("90-real"); nothing: there is none that nvcc compiles for.
devices() {
    local found
    found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
        awk '/^[0-9]+\.[0-9]$/ && $1 >= 7.5 { sub(/\./, ""); print $1 "-real" }' | sort -u | paste -sd ';')
    [[ -n $found || ! -e /dev/nvidia0 ]] || command -v nvidia-smi >/dev/null || found=native
    printf '%s' "$found"
}
more="FLASHSTEP_CUDA=ALL ./run.sh compiles for all targets"
case ${FLASHSTEP_CUDA:-AUTO} in
    AUTO | ON)
        if found=$(devices) && [[ -n $found ]]; then
            cuda=("-DFLASHSTEP_CUDA=${FLASHSTEP_CUDA:-AUTO}" "-DCMAKE_CUDA_ARCHITECTURES=$found")
            what="the CUDA back end for the device here ($found), where there is a toolkit; $more"
        elif [[ ${FLASHSTEP_CUDA:-} == ON ]]; then
            cuda=(-DFLASHSTEP_CUDA=ON -UCMAKE_CUDA_ARCHITECTURES) what="the CUDA back end for all targets: no device here"
        else
            cuda=(-DFLASHSTEP_CUDA=OFF) what="no CUDA device here, so no CUDA back end; $more"
        fi ;;
    ALL) cuda=(-DFLASHSTEP_CUDA=ON -UCMAKE_CUDA_ARCHITECTURES) what="the CUDA back end for all targets" ;;
    OFF) cuda=(-DFLASHSTEP_CUDA=OFF) what="no CUDA back end; $more" ;;
    *) fail "FLASHSTEP_CUDA is '$FLASHSTEP_CUDA'; it may be ALL, ON or OFF" ;;
esac

install_packages "${packages_run[@]}"
[[ ! -e build || -w build ]] || fail "$PWD/build is not writable by $(id -un); remove it or change its owner"
[[ -z ${FLASHSTEP_CUDA:-} ]] || rm -f build/build.ninja # asked for: configured anew
[[ -f build/build.ninja ]] || say "$what"
configure release build -DFLASHSTEP_TESTS=OFF "${cuda[@]}" || fail "cmake failed (see above)"
[[ -x build/bin/flashstep ]] || say "building; the first time takes some minutes"
build build --target flashstep || fail "the build failed (see above)"
give_back build

program=$PWD/build/bin/flashstep
cd "$from" # file names among the arguments are the caller's
exec "$program" "$@"
