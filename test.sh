#!/usr/bin/env bash
# Installs what is missing, builds and runs every test, and ends with ctest's summary: ./test.sh [ARGUMENTS OF ctest]
# Three builds: g++ Release with -Werror, g++ with ASan and UBSan (its tests are named "asan/..."), and clang with -Werror,
# which is only compiled. One ctest run covers them all; a build that fails is a failed test of it.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")" || exit 2
source cmake/packages.sh
trap 'exit 130' INT TERM # ninja ends well on Ctrl+C; without this the next build would start

install_packages "${packages_run[@]}" "${packages_test[@]}"

presets=(ci dev clang)
titles=("g++ release" "g++ with ASan and UBSan" "clang")
summary=build-ci/all
for preset in "${presets[@]}"; do
    say "building build-$preset"
    if ! configure "$preset" "build-$preset" || ! build "build-$preset" -- -k 0; then say "build-$preset FAILED"; fi
done

mkdir -p "$summary" || fail "cannot write $PWD/$summary"
{
    echo "# The tests of all builds; written by test.sh."
    for k in "${!presets[@]}"; do
        # Run again as a test: has nothing to do after a good build, and shows the errors after a bad one.
        printf 'add_test([==[build: %s]==] [==[%s]==] --build [==[%s]==])\n' \
            "${titles[k]}" "$(command -v cmake)" "$PWD/build-${presets[k]}"
    done
    for preset in ci dev; do
        [[ ! -f build-$preset/CTestTestfile.cmake ]] || printf 'subdirs([==[%s]==])\n' "$PWD/build-$preset"
    done
} >"$summary/CTestTestfile.cmake"
give_back "${presets[@]/#/build-}"

# Errors of the sanitizers end a test; leaks of the system's graphics libraries are none of ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_stack_use_after_return=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
export LSAN_OPTIONS=${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}
ctest --test-dir "$summary" --output-on-failure -j "$(nproc)" --timeout 1200 "$@"
result=$?
give_back "${presets[@]/#/build-}"
exit $result
