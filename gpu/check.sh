#!/usr/bin/env bash
# One command on a machine with an NVIDIA GPU: every kernel against its mirror, the sanitizers, recordings, the bench and
# the README's table. Exit status: 0 all done, 1 something failed (the summary says what), 2 wrong use, 77 no device.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

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
for part in ${parts//,/ }; do
    case $part in
        check | sanitize | record | bench) ;;
        *) wrong_use "--parts holds '$part'; there are check, sanitize, record, bench" ;;
    esac
done
chosen() { [[ ,$parts, == *,$1,* ]]; }

if [[ -n $prebuilt ]]; then
    [[ $build_only == no ]] || wrong_use "--build and --prebuilt exclude each other"
    [[ -f $prebuilt && -x $prebuilt ]] || wrong_use "--prebuilt $prebuilt: no program is there"
    program=$(cd "$(dirname "$prebuilt")" && pwd)/$(basename "$prebuilt")
else
    # A build takes minutes: where there is no sign of a driver, it is not begun.
    if [[ $build_only == no && ! -e /dev/nvidiactl && ! -e /dev/dxg ]] && ! command -v nvidia-smi >/dev/null; then
        no_device "no NVIDIA driver (no /dev/nvidiactl, no nvidia-smi)"
    fi
    say "building flashstep_prebuilt in $root/build-gpu"
    if ! cmake -S "$root" -B "$root/build-gpu" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFLASHSTEP_CUDA=ON \
        -DFLASHSTEP_VIZ=OFF -DFLASHSTEP_TESTS=OFF >&2 ||
        ! cmake --build "$root/build-gpu" --target flashstep_prebuilt >&2; then
        say "the build failed (see above); the packages are listed in cmake/packages.sh, and nvcc is needed"
        exit 1
    fi
    program=$root/build-gpu/bin/flashstep_prebuilt
    if [[ $build_only == yes ]]; then
        printf '%s\n' "$program"
        exit 0
    fi
fi

device=$("$program" device --json)
status=$?
((status != 77)) || no_device "$("$program" device 2>&1 | tail -n 1)"
((status == 0)) || { say "$program device failed with status $status"; exit 1; }
# A string of a flat JSON object that our own program wrote.
field() { sed -n 's/.*"'"$1"'": "\(.*\)".*/\1/p' <<<"$device"; }
name=$(field name) folder=$(field folder)
[[ -n $name && -n $folder ]] || { say "$program device --json gives no name and folder: $device"; exit 1; }
say "on $name"

mkdir -p "$out" || exit 1
out=$(cd "$out" && pwd)
logs=$out/build-gpu-logs
mkdir -p "$logs" "$out/gpu/measured" || exit 1
printf '%s\n' "$device" >"$logs/device.json"

summary=() failed=0
# part NAME COMMAND...: runs it, keeps what it prints, and goes on whatever comes of it.
part() {
    local title=$1 start=$SECONDS result
    shift
    say "$title: $*"
    "$@" 2> >(tee "$logs/${title// /_}.err" >&2) | tee "$logs/${title// /_}.out"
    result=${PIPESTATUS[0]}
    if ((result == 0)); then
        summary+=("done    $title ($((SECONDS - start)) s)")
    else
        summary+=("FAILED  $title: status $result (see $logs/${title// /_}.err)")
        failed=1
    fi
    return "$result"
}
left_out() { summary+=("left out $1: $2"); }

if chosen check; then part "table of shapes" timeout 1800 "$program" check all --on cuda; fi

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

if chosen record; then part "recordings" "$program" record --out "$out/lessons/recorded"; fi

if chosen bench; then
    results=$out/gpu/measured/$folder.json peers=$out/gpu/measured/$folder.torch.json schedule=$logs/schedule.json
    if part "bench" "$program" bench --device --json="$results"; then
        table=("$program" bench-table "$results")
        if ! command -v python3 >/dev/null || ! python3 -c 'import torch' 2>/dev/null; then
            left_out "PyTorch" "there is no python3 with torch, so the table has no peers"
        elif "$program" bench --schedule --json="$schedule" &&
            part "PyTorch" timeout 1800 python3 "$root/gpu/bench_torch.py" --schedule "$schedule" --json "$peers"; then
            table+=(--peers "$peers")
        fi
        if [[ ! -f $out/README.md ]]; then cp "$root/README.md" "$out/README.md" 2>/dev/null; fi
        if [[ -f $out/README.md ]]; then table+=(--into "$out/README.md"); fi
        part "README table" "${table[@]}"
    fi
fi

say "on $name:"
for line in "${summary[@]}"; do say "  $line"; done
exit "$failed"
