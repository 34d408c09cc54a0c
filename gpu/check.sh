#!/usr/bin/env bash
# One command on a machine with an NVIDIA GPU: every kernel against its mirror, the sanitizers, recordings, the bench and
# the README's table. Exit status: 0 all done, 1 something failed (the summary says what), 2 wrong use, 77 no device.
set -uo pipefail
unset CDPATH
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# shellcheck source=cmake/packages.sh
[[ ! -f $root/cmake/packages.sh ]] || source "$root/cmake/packages.sh" # install_packages; --prebuilt needs none of it

usage() {
    cat <<'EOF'
gpu/check.sh [OPTIONS]        builds (needs a CUDA toolkit), then runs everything on the GPU of this machine
  --prebuilt FILE   take this program instead: flashstep_prebuilt, for a machine that has a driver and no package of ours
  --build           only build that program (no GPU needed) and print where it is
  --out DIR         where results go: DIR/lessons/recorded/, DIR/gpu/measured/ and DIR/README.md (the repository)
  --parts LIST      some of check,sanitize,record,bench, separated by commas (all of them)
EOF
}
say() { printf '%s\n' "gpu/check.sh: $*" >&2; }
wrong_use() { say "$1"; usage >&2; exit 2; }
no_device() { say "no CUDA device here, nothing was run: $1"; exit 77; }

prebuilt='' build_only=no out=$root parts=check,sanitize,record,bench
while (($# > 0)); do
    case $1 in
        --prebuilt | --out | --parts)
            [[ -n ${2:-} ]] || wrong_use "$1 needs a value"
            case $1 in
                --prebuilt) prebuilt=$2 ;;
                --out) out=$2 ;;
                --parts) parts=$2 ;;
            esac
            shift 2 ;;
        --build) build_only=yes; shift ;;
        -h | --help) usage; exit 0 ;;
        *) wrong_use "unknown option '$1'" ;;
    esac
done
IFS=, read -r -a chosen_parts <<<"$parts"
((${#chosen_parts[@]} > 0)) || wrong_use "--parts is empty"
for part in "${chosen_parts[@]}"; do
    case $part in
        check | sanitize | record | bench) ;;
        *) wrong_use "--parts holds '$part'; there are check, sanitize, record, bench" ;;
    esac
done
chosen() { [[ ,$parts, == *,$1,* ]]; }
[[ ! -e $out || -d $out ]] || wrong_use "--out $out: that is no folder"

if [[ -n $prebuilt ]]; then
    [[ $build_only == no ]] || wrong_use "--build and --prebuilt exclude each other"
    [[ -f $prebuilt ]] || wrong_use "--prebuilt $prebuilt: no such file"
    [[ -x $prebuilt ]] || wrong_use "--prebuilt $prebuilt is not executable (chmod +x)"
    program=$(cd "$(dirname "$prebuilt")" && pwd)/$(basename "$prebuilt")
else
    # A build takes minutes: where there is no sign of a driver, it is not begun.
    if [[ $build_only == no && ! -e /dev/nvidiactl && ! -e /dev/dxg ]] && ! command -v nvidia-smi >/dev/null; then
        no_device "no NVIDIA driver (no /dev/nvidiactl, no nvidia-smi)"
    fi
    install_packages "${packages_run[@]}"
    say "building flashstep_prebuilt in $root/build-gpu"
    if ! cmake -S "$root" -B "$root/build-gpu" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFLASHSTEP_CUDA=ON \
        -DFLASHSTEP_VIZ=OFF -DFLASHSTEP_TESTS=OFF >&2 ||
        ! cmake --build "$root/build-gpu" --target flashstep_prebuilt >&2; then
        say "the build failed (see above); it needs nvcc of CUDA 12.8 or later and the packages of cmake/packages.sh"
        exit 1
    fi
    program=$root/build-gpu/bin/flashstep_prebuilt
    if [[ $build_only == yes ]]; then
        printf '%s\n' "$program"
        exit 0
    fi
fi

device=$(timeout 120 "$program" device --json 2>/dev/null)
status=$?
# A string of a flat JSON object that our own program wrote.
field() { sed -n 's/.*"'"$1"'": "\(.*\)".*/\1/p' <<<"$device"; }
((status != 77)) || no_device "$(field message)"
name=$(field name) folder=$(field folder)
if ((status != 0)) || [[ -z $name || -z $folder ]]; then
    wrong_use "'$program device --json' names no device (status $status): is it a flashstep?"
fi
say "on $name"

logs=$out/build-gpu-logs
mkdir -p -- "$logs" "$out/gpu/measured" 2>/dev/null || wrong_use "--out $out: cannot make folders there"
out=$(cd "$out" && pwd) logs=$(cd "$logs" && pwd)
printf '%s\n' "$device" >"$logs/device.json"

summary=() failed=0
left_out() { summary+=("left out $1: $2"); }
# part NAME COMMAND...: runs it, keeps what it prints, and goes on whatever comes of it.
part() {
    local title=$1 start=$SECONDS result
    shift
    say "$title: $*"
    "$@" 2> >(tee "$logs/${title// /_}.err" >&2) | tee "$logs/${title// /_}.out"
    result=${PIPESTATUS[0]}
    if ((result == 0)); then
        summary+=("done    $title ($((SECONDS - start)) s)")
    elif ((result == 77)); then
        left_out "$title" "it says that it cannot run here (see $logs/${title// /_}.err)"
    else
        summary+=("FAILED  $title: status $result (see $logs/${title// /_}.err)")
        failed=1
    fi
    return "$result"
}

if chosen check; then
    part "table of shapes" timeout 1800 "$program" check all --on cuda
    part "table of shapes, bf16" timeout 1800 "$program" check all --dtype bf16 --on cuda
fi

if chosen sanitize; then
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    if [[ -x $sanitizer ]]; then
        for tool in memcheck racecheck synccheck; do
            part "sanitizer $tool" timeout 1800 "$sanitizer" --tool "$tool" --error-exitcode 9 \
                "$program" check all --on cuda
        done
    else
        left_out "sanitizer" "there is no compute-sanitizer (it comes with the CUDA toolkit)"
    fi
fi

if chosen record; then part "recordings" timeout 600 "$program" record --out "$out/lessons/recorded"; fi

if chosen bench; then
    results=$out/gpu/measured/$folder.json peers=$out/gpu/measured/$folder.torch.json schedule=$logs/schedule.json
    if part "bench" timeout 3600 "$program" bench --device --json="$results"; then
        table=("$program" bench-table "$results")
        rm -f -- "$peers" # of another day
        if [[ ! -f $root/gpu/bench_torch.py ]] || ! python3 -c 'import torch' 2>/dev/null; then
            left_out "PyTorch" "there is no python3 with torch, or no gpu/bench_torch.py: the table has no peers"
        elif part "schedule" "$program" bench --schedule --json="$schedule"; then
            part "PyTorch" timeout 1800 python3 "$root/gpu/bench_torch.py" --schedule "$schedule" --json "$peers"
        fi
        [[ ! -f $peers ]] || table+=(--peers "$peers")
        [[ -e $out/README.md || -L $out/README.md ]] || cp -- "$root/README.md" "$out/README.md"
        if ((failed == 0)); then
            part "README table" "${table[@]}" --into "$out/README.md"
        else
            part "table (the README stays as it is, because something failed)" "${table[@]}"
        fi
    fi
fi

say "on $name:"
for line in "${summary[@]}"; do say "  $line"; done
exit "$failed"
