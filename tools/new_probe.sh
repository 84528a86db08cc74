#!/bin/sh
# tools/new_probe.sh NAME STAGE "TITLE": a new probe that builds and runs: its row, its file, and a recorded machine.
#   STAGE is one of HOST BUS ACCEL GENERIC LINK ANNOTATE. CONTRIBUTING.md tells what comes next.
set -eu
cd "$(dirname "$0")/.."
if [ $# -ne 3 ]; then sed -n '2,3s/^# //p' "$0" >&2; exit 2; fi
name=$1 stage=$2 title=$3
table=src/probe/table.def file=src/probe/$name.c machine=tests/machines/$name.machine

case $name in '' | [!a-z]* | *[!a-z0-9_]*) echo "$name: a name is lower case letters, digits and _" >&2; exit 2 ;; esac
case $stage in
HOST | BUS | ACCEL | GENERIC | LINK | ANNOTATE) ;;
*) echo "$stage: not a stage" >&2; exit 2 ;;
esac
case $title in *'"'*) echo "the title holds a quote" >&2; exit 2 ;; esac
for path in "$file" "$machine"; do
    if [ -e "$path" ]; then echo "$path exists" >&2; exit 1; fi
done

printf 'PROBE(%s, LINUX, %s, "%s")\n' "$name" "$stage" "$title" >>"$table"

cat >"$file" <<EOF
/* $title: which files tell what, and where that is documented (a URL). */
#include "probe.h"

#define CLASS "/sys/class/$name"

static bool gate(pli_probe_context *context)
{
    return pli_exists(context->m, CLASS);
}

static void add_card(pli_probe_context *context, const char *node)
{
    plim_device *device = pli_add_device(context->inv);
    uint64_t bytes;
    if (!device)
        return; /* out of memory, or more devices than anybody has: noted already */
    PLI_SET_STR(device, device, kind, "npu", "sysfs");
    PLI_SET_STR(device, device, family, "$name", "sysfs");
    pli_str product = pli_read_wordf(context->m, context->scratch, CLASS "/%s/product", node);
    PLI_SET_STR(device, device, name, pli_text(context->inv, product), "sysfs");
    if (pli_read_u64f(context->m, context->scratch, &bytes, CLASS "/%s/memory_total", node))
        PLI_SET(device, device, memory_total_bytes, bytes, "sysfs");
    else
        pli_note(context->inv, "warning", context->name, node, "is the driver loaded?",
                 "the size of its memory cannot be read");
}

static void run(pli_probe_context *context)
{
    pli_names nodes;
    if (pli_list(context->m, context->scratch, CLASS, &nodes) != PLIM_OK)
        return;
    for (size_t i = 0; i < nodes.count; i++)
        add_card(context, nodes.items[i]);
}

const pli_probe pli_probe_$name = {.gate = gate, .run = run};
EOF

mkdir -p tests/machines
cat >"$machine" <<EOF
-- plimsoll 1 --
-- facts --
os=linux
arch=x86_64
-- file /sys/class/$name/${name}0/product --
$title
-- file /sys/class/$name/${name}0/memory_total --
17179869184
EOF

echo "$table, $file, $machine: build, then look at"
echo "    build/plimsoll --machine $machine --json"
