#!/bin/sh
# formats.sh PLIMSOLL SHARED: `plimsoll model` on files of independent writers, good and damaged, as the judge of
# SHARED wants it. Skips (77) where SHARED is absent.
set -eu
judge=$2/tools/check_formats.py
[ -f "$judge" ] || { echo "skipped: no $judge"; exit 77; }
exec python3 "$judge" "$1" "$2/truth/formats"
