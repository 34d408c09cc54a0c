# shellcheck shell=bash disable=SC2034
# The Debian packages that flashstep needs, and the functions that run.sh and test.sh share. Sourced by both.
# A CUDA toolkit is used where it is found, and never installed.

packages_run=(
    build-essential g++ cmake ninja-build pkg-config
    libeigen3-dev libfmt-dev nlohmann-json3-dev libcli11-dev libboost-context-dev
    libimgui-dev libglfw3-dev libgl-dev libopengl-dev libfontconfig-dev libmd4c-dev libstb-dev
    libgl1-mesa-dri fontconfig fonts-noto-core fonts-noto-cjk fonts-stix fonts-dejavu-core # what the window is drawn with
    xvfb xauth                                                                             # `flashstep shot` without a display
)
packages_test=(
    doctest-dev clang xdotool libvalijson-dev python3
)

say() { printf 'flashstep: %s\n' "$*" >&2; }
fail() {
    say "$*"
    exit 2
}

# install_packages NAME...: installs those that are missing; one quick query and nothing else when none is.
install_packages() {
    [[ -z ${FLASHSTEP_NO_INSTALL:-} ]] || return 0
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        local tool
        for tool in cmake ninja c++ pkg-config; do
            command -v "$tool" >/dev/null ||
                fail "this is not Debian, and $tool is missing; install what these Debian packages hold: $*"
        done
        return 0 # cmake names what else is missing
    fi
    local installed missing=() name
    installed=$'\n'$(dpkg-query -W -f='${db:Status-Abbrev}${Package}\n' "$@" 2>/dev/null || true)$'\n'
    for name in "$@"; do
        [[ $installed == *$'\n'?"i "$name$'\n'* ]] || missing+=("$name")
    done
    ((${#missing[@]})) || return 0

    local as_root=()
    if ((EUID != 0)); then
        command -v sudo >/dev/null ||
            fail "packages are missing and there is no sudo; run as root: apt-get install ${missing[*]}"
        as_root=(sudo)
    fi
    say "installing ${missing[*]}"
    local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0)
    "${apt[@]}" update </dev/null >&2 || fail "apt-get update failed (see above); packages needed: ${missing[*]}"
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" </dev/null >/dev/null ||
        fail "apt-get could not install (see above): ${missing[*]}"
}

# configure PRESET FOLDER [OPTION...]: runs cmake where FOLDER holds no usable build of this tree. Ninja itself runs
# cmake again when a CMake file or the list of sources changes.
configure() {
    local preset=$1 folder=$2
    shift 2
    if [[ -f $folder/CMakeCache.txt ]] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$folder/CMakeCache.txt"; then
        say "$folder was made in another place; making it anew"
        rm -rf "$folder"
    fi
    [[ -f $folder/build.ninja ]] || cmake --preset "$preset" "$@" >&2
}

# build FOLDER [ARGUMENT...]: ninja, with its output on standard error; silent when there is nothing to do.
build() {
    local folder=$1
    shift
    cmake --build "$folder" "$@" 2>&1 | sed -u -e '/no work to do/d' -e '/Re-checking globbed directories/d' >&2
}

# give_back FOLDER...: after `sudo ./run.sh` the build belongs to whom the tree belongs.
give_back() {
    if ((EUID == 0)) && [[ -n ${SUDO_UID:-} ]]; then chown -R --reference=. "$@" 2>/dev/null || true; fi
}
