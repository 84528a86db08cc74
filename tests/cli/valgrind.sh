#!/bin/sh
# valgrind.sh PLIMSOLL: a handful of commands without a bad access or a block left behind. Exit 77: no valgrind here.
# script/campaign valgrind runs every machine and model.
set -eu
command -v valgrind >/dev/null || { echo "valgrind is missing"; exit 77; }
plimsoll=$(realpath "$1")
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
failed=0

# An exit status of the command's own is an answer; 99 is valgrind's.
clean() {
    status=0
    valgrind -q --leak-check=full --show-leak-kinds=all --errors-for-leak-kinds=all --error-exitcode=99 \
        "$plimsoll" "$@" >"$tmp/out" 2>"$tmp/err" || status=$?
    [ "$status" -le 4 ] || { echo "valgrind: $status: plimsoll $*"; cat "$tmp/err"; failed=1; }
}

cd "$top/tests/cli"
machine=$top/tests/machines/nvidia-h200-mig.machine
model=$top/examples/models/qwen3-30b-a3b-q4_k_m.gguf
clean
clean --json
clean --machine "$machine"
clean capture "$tmp/x.machine" --machine "$machine" --json
clean --machine workstation.json --explain
clean diff workstation.json "$machine" --json
clean doctor --on 'cuda:24GiB*2' --json
clean model "$model" --tensors --metadata --json
clean fit "$model" --machine "$machine" -c 8192 --explain
clean fit "$model" --on cuda:24GiB -ot 'exps=CPU' --json
clean --machine show.t
clean --ctx
clean help --schema machine
exit $failed
