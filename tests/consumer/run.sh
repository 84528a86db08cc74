#!/bin/sh
# Builds and installs plimsoll without sanitizers, then the README's program against it, in each way that is offered.
#
#   run.sh install|find_package|pkgconfig|subdir|probe|files SOURCE BUILD [CMAKE OPTIONS...]
#
# install comes first; the other tests use what it made below BUILD.
set -eu
what=$1 source=$2 build=$3
shift 3
program=$source/examples/devices.c
stage=$build/stage prefix=/opt/plimsoll
mkdir -p "$build"
cd "$build"

run() {
    echo "+ $*"
    "$@"
}

case $what in
install)
    rm -rf "$stage"
    # -O1: it is built in every test run, and nobody times it.
    run cmake -S "$source" -B release -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O1 -DNDEBUG" \
        -DPLIM_BUILD_TESTS=OFF -DPLIM_BUILD_EXAMPLES=OFF \
        -DPLIM_BUILD_BENCH=ON -DCMAKE_INSTALL_PREFIX=$prefix -DCMAKE_INSTALL_LIBDIR=lib "$@"
    run cmake --build release --parallel 2
    DESTDIR=$stage run cmake --install release
    run "$stage$prefix/bin/plimsoll" version
    ;;
find_package)
    # Without DESTDIR, to another prefix than was configured: what is installed has to find itself.
    run cmake --install release --prefix "$build/elsewhere"
    run cmake -S "$source/tests/consumer/find_package" -B find_package -DPROGRAM="$program" \
        -Dplimsoll_ROOT="$build/elsewhere" -DCMAKE_FIND_PACKAGE_NO_PACKAGE_REGISTRY=ON "$@"
    run cmake --build find_package
    run find_package/consumer_plimsoll
    run find_package/consumer_static
    ;;
pkgconfig)
    export PKG_CONFIG_PATH="$stage$prefix/lib/pkgconfig"
    # shellcheck disable=SC2046 # flags are words
    run "${CC:-cc}" "$program" -o pkgconfig_shared $(pkg-config --cflags --libs plimsoll)
    LD_LIBRARY_PATH=$stage$prefix/lib run ./pkgconfig_shared
    # shellcheck disable=SC2046
    run "${CC:-cc}" -DPLIM_STATIC "$program" -o pkgconfig_static \
        $(pkg-config --static --cflags --libs plimsoll | sed 's/-lplimsoll/-l:libplimsoll.a/')
    run ./pkgconfig_static
    version=$(pkg-config --modversion plimsoll)
    run grep -q "PLIM_VERSION_TEXT \"$version\"" "$source/include/plimsoll/base.h"
    ;;
subdir)
    run cmake -S "$source/tests/consumer/subdir" -B subdir -DPROGRAM="$program" -DPLIMSOLL="$source" "$@"
    run cmake --build subdir --parallel 2
    run subdir/consumer_plimsoll
    run subdir/consumer_static
    ;;
probe)
    # CONTRIBUTING.md's guide: the new probe builds without a warning and finds the card of its recording.
    rm -rf probe
    mkdir probe
    (cd "$source" && tar -cf - --exclude='./build*' --exclude=./.git .) | tar -C probe -xf -
    run probe/tools/new_probe.sh acme ACCEL "Acme accelerators"
    run cmake -S probe -B probe/build -DCMAKE_BUILD_TYPE=Debug -DPLIM_BUILD_TESTS=OFF -DPLIM_BUILD_EXAMPLES=OFF \
        "$@" -DPLIM_WERROR=ON
    run cmake --build probe/build --target plimsoll_cli --parallel 2
    run probe/tests/machines/replay.py --update probe/build/plimsoll acme
    run probe/tests/machines/replay.py probe/build/plimsoll acme
    run grep -q '"total_bytes": 17179869184' probe/tests/machines/acme.json
    run probe/tools/lint.py probe-files built-files header-shape columns
    ;;
files)
    (cd "$stage$prefix" && find bin include lib ! -type d | LC_ALL=C sort) >installed
    run diff "$source/tests/consumer/installed.txt" installed
    ;;
esac
