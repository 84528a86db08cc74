#!/bin/sh
# oracle.sh PLIMSOLL SHARED [check_fit.py's options]: the engine's own plans in SHARED/truth against `plimsoll fit`.
# Weights, cache and state must be exact; the other terms are printed. Skips (77) where SHARED is absent.
set -eu
plimsoll=$1 shared=$2
shift 2
judge=$shared/tools/check_fit.py
[ -f "$judge" ] || { echo "skipped: no $judge"; exit 77; }
for oracle in llamacpp_oracle llamacpp_oracle_nout; do
    echo "$oracle:"
    python3 "$judge" "$plimsoll" "$shared/truth/models.json" "$shared/truth/$oracle.jsonl" "$@"
done
