#!/bin/sh
# An engine for rows.py: a real llama.cpp beside the imaginary GPUs of fake_cuda.c. Needs the network and some minutes.
#
#   setup.sh debian DIR         Debian's packages in DIR/root, by debootstrap (as root; about a minute, 0.7 GB)
#   setup.sh sdist VERSION DIR  the llama.cpp in llama-cpp-python VERSION's source package, built (cmake, ninja; 0.3.36
#                               has one of September 2026, close to 0.5.0)
#   setup.sh shims DIR          only compiles fake_cuda.c and report.cpp again, for a DIR made by one of the others
# Nothing outside DIR changes.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
usage() { sed -n 's/^#   //p' "$0" >&2; exit 2; }

# shims DIR FOLDER INCLUDE...: both libraries, for the ggml and llama.cpp whose public headers are there
shims() {
    out=$2
    mkdir -p "$out"
    shift 2
    flags= ggml= llama=
    for include; do
        flags="$flags -I$include"
        [ -f "$include/ggml-backend.h" ] && ggml=$include/ggml-backend.h
        [ -f "$include/llama.h" ] && llama=$include/llama.h
    done
    has() { grep -q "$1" "$2" && echo 1 || echo 0; }
    ${CC:-cc} -std=c11 -O1 -fPIC -shared -DPLUGIN_COPIES_2D="$(has ggml_backend_tensor_set_2d "$ggml")" \
        -DPLUGIN_LISTS="$(has ggml_backend_buft_alloc_buffer_n "$ggml")" $flags "$here/fake_cuda.c" \
        -o "$out/libggml-fake.so"
    outputs=; [ "$(has n_outputs_max "$llama")" = 1 ] && outputs=-DORACLE_HAS_OUTPUTS
    ${CXX:-c++} -std=c++17 -O1 -fPIC -shared $outputs $flags "$here/report.cpp" -o "$out/report.so" -ldl
}

all_shims() {
    if [ -d "$1/root" ]; then
        shims "$1" "$1/root/oracle" "$1/root/usr/include"
    else
        shims "$1" "$1/oracle" "$1/source/ggml/include" "$1/source/include"
    fi
}

case ${1:-} in
debian)
    dir=${2:?$(usage)}
    mkdir -p "$dir"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' | grep -m1 'debian/$')
    debootstrap --variant=minbase forky "$dir/root" "$mirror" /usr/share/debootstrap/scripts/sid
    chroot "$dir/root" apt-get install -y -qq --no-install-recommends llama.cpp-tools llama.cpp-tools-extra \
        libggml-dev libllama-dev
    all_shims "$dir"
    ;;
sdist)
    version=${2:?$(usage)} dir=${3:?$(usage)}
    mkdir -p "$dir"
    pip download -q --no-deps --no-binary llama-cpp-python -d "$dir" "llama-cpp-python==$version"
    tar -xzf "$dir/llama_cpp_python-$version.tar.gz" -C "$dir"
    ln -sfn "llama_cpp_python-$version/vendor/llama.cpp" "$dir/source"
    cmake -G Ninja -S "$dir/source" -B "$dir/build" -DCMAKE_BUILD_TYPE=Release -DGGML_BACKEND_DL=ON -DGGML_NATIVE=OFF \
        -DBUILD_SHARED_LIBS=ON -DLLAMA_CURL=OFF -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF \
        -DLLAMA_BUILD_SERVER=OFF -DLLAMA_BUILD_COMMON=ON -DLLAMA_BUILD_TOOLS=ON >"$dir/cmake.log"
    ninja -C "$dir/build" llama-fit-params ggml-cpu
    ln -sfn build/bin "$dir/bin"
    all_shims "$dir"
    ;;
shims) all_shims "${2:?$(usage)}" ;;
*) usage ;;
esac
