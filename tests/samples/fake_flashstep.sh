#!/usr/bin/env bash
# Stands in for flashstep in tests of gpu/check.sh: answers as on a made-up device, measures nothing, and writes down how
# it was called. $FAKE_LOG: where to; $FAKE_FAILS: a command that fails; $FAKE_NO_DEVICE: not empty, there is none.
printf '%s\n' "$*" >>"$FAKE_LOG"
if [[ $1 == device ]]; then
    if [[ -n ${FAKE_NO_DEVICE:-} ]]; then
        printf '{\n  "available": false,\n  "message": "no CUDA device: made up"\n}\n'
        exit 77
    fi
    printf '{\n  "available": true,\n  "folder": "sample-device",\n  "name": "SAMPLE Device"\n}\n'
    exit 0
fi
[[ $1 != "${FAKE_FAILS:-}" ]] || exit 1
for word in "$@"; do
    case $word in --json=*) echo '{}' >"${word#--json=}" ;; esac
done
