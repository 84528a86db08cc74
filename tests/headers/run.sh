#!/bin/sh
# Every public header compiles alone, without a warning: as C99, C11, C++11 and C++17.  run.sh SOURCE CC CXX
set -eu
source=$1 cc=$2 cxx=$3
flags='-Wall -Wextra -Wpedantic -pedantic-errors -Wconversion -Wshadow -Wundef -Werror -fsyntax-only'
status=0
for header in "$source"/include/plimsoll/*.h; do
    name=$(basename "$header")
    case $name in records_*) continue ;; esac # passes over the tables, included by the others
    for language in c99 c11 c++11 c++17; do
        case $language in c++*) compiler=$cxx kind=c++ ;; *) compiler=$cc kind=c ;; esac
        # shellcheck disable=SC2086 # flags are words
        if ! printf '#include <plimsoll/%s>\nint unused;\n' "$name" |
            "$compiler" -std=$language $flags -I "$source/include" -x $kind -; then
            echo "plimsoll/$name does not compile as $language"
            status=1
        fi
    done
done
exit $status
