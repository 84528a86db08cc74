# By habit: make, make run, make test, make install, make clean. CMake does the work (script/build).
PREFIX ?= /usr/local

all:
	@script/bootstrap run
	@script/build build all -DCMAKE_BUILD_TYPE=Release -DPLIM_BUILD_TESTS=OFF

run:
	@script/run

test:
	@script/test

install: all
	@cmake -DCMAKE_INSTALL_PREFIX="$(PREFIX)" build >/dev/null
	@cmake --install build

clean:
	rm -rf build build-test

.PHONY: all run test install clean
