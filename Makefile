# A thin front door over Meson. Each goal first brings in what the machine lacks (tools/bootstrap);
# where nothing is missing no packager is called, so none of it needs root but `make install`.

PREFIX ?= /usr/local
DESTDIR ?=
BUILD := build
# MAKEFLAGS would hand ninja and the tests a job server that they do not speak.
unexport MAKEFLAGS MAKELEVEL

.PHONY: all demo test bench r-package install docs format check-style lint clean help
.DEFAULT_GOAL := all

all: ## build build/resource-tracker and build/gpu-tracker
	@tools/bootstrap build
	@tools/bootstrap page || echo "The tracker is built without the report's page."
	@tools/build $(BUILD)

demo: all ## build, then track a small job and show what it used
	@tools/demo $(BUILD)/resource-tracker

test: ## run every test; the last line says how many passed and failed
	@tools/bootstrap build page browser test r
	@tools/test

bench: ## measure against the kernel's floor and the other trackers; writes docs/benchmarks.md and docs/accuracy.md
	@tools/bootstrap build page browser bench
	@tools/build build-bench -Dbuildtype=release -Dtests=false -Dbench=true
	@bench/run --build build-bench
	@bench/accuracy --build build-bench

r-package: ## make the R source package, build/resource.tracker_VERSION.tar.gz
	@tools/bootstrap build page r
	@tools/build $(BUILD)
	@tools/r_package

install: all ## install below $(DESTDIR)$(PREFIX)
	@meson configure $(BUILD) -Dprefix='$(PREFIX)'
	@DESTDIR='$(DESTDIR)' meson install -C $(BUILD) --quiet >/dev/null

docs: all ## write again what is generated from the sources (docs/metrics.md)
	@$(BUILD)/tools/gen_metrics > docs/metrics.md

format: ## lay out the C sources as .clang-format says
	@tools/check_style --write

check-style: ## layout, include directions, sizes, stray marks
	@tools/check_all

lint: all ## clang-tidy over the library and the command (slow)
	@run-clang-tidy -quiet -p $(BUILD) '/(src|cli)/.*\.c$$' 2>/dev/null | grep -E 'warning:|error:' | sort -u

clean: ## remove what was built
	rm -rf build build-logs build-python build-asan build-fuzz build-fault build-bench

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' Makefile | expand -t 20
