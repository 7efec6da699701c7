# What can be done here. Each target is one line of `make help`.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
STAMP   := -trimpath -ldflags '-s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)'
# The race detector needs a C compiler; without one the tests run without it. In
# virtual time it crashes now and then where timers fire on two processors at
# once (golang/go#78156), so it gets one.
RACE    := $(if $(shell command -v gcc clang 2>/dev/null),-race -cpu 1)
# What runs under qemu and ends within minutes: what speaks to the kernel, the disk and
# the wire. The words of arm64 are those of amd64, and the lab has the whole gateway on
# both, so arm64 has the drivers here.
QUICK   := ./store/... ./drivers/... ./cloud
# What counts and reckons.
RECKONS := $(addprefix ./agent/,auth booking calendar clock cloudcommand config device cloudkey eventlog health mail message/... \
	printable qr rule/... schedule timekeeper unlock webhook)
# These start other programs: the kernel does not know how to run a binary of another
# kind, and a fork of many threads hangs under qemu now and then.
FORKS   := CheckInChild|OnlyACrashOfTheChild|StoppedCheck|KilledWriter|SuiteFindsFlaws|Mosquitto|SamplesOfThePage
# What is behind the build tag lab.
LAB     := ./drivers/host/lab ./cmd/roomgate
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
GOVULNCHECK := golang.org/x/vuln/cmd/govulncheck@v1.9.0

# Runs go test and prints its plain lines, the whole output of what failed, and
# what was skipped with the reason: $(call gotest,flags and packages) or, in a
# module below, $(call gotest,flags and packages,-C folder)
gotest = { go $(2) test -v -timeout 15m $(1) 2>&1; echo "exit $$?"; } | awk -f .ci/report.awk

# A module of its own, so that no gateway carries the servers and drivers that its tests start.
ENGINE  := cloud/engine

# The tests behind the build tag integration and those that measure, by name: their packages have others, too.
TAGGED  = $(shell grep -rl --include='*_test.go' '^//go:build integration$$' .)
MEASURE = $(shell grep -rl --include='*_test.go' 'if !measured' .)
NAMED   = ^($$(grep -hoE '^func Test[A-Za-z0-9_]+' $(TAGGED) $(MEASURE) | cut -c6- | paste -sd'|'))$$
# Tests that look for programs are: they have read PATH, which Go compares, while
# it does not see what was installed into a folder of it.
INSTALLED := export PATH="$$PWD/.cache/node/node_modules/.bin:$$PATH:/usr/sbin"

# Go interrupts its threads by signals, which qemu sometimes loses: off.
emulated = export CGO_ENABLED=0 GODEBUG=asyncpreemptoff=1; \
	$(call gotest,-short -skip '$(FORKS)' -exec $(1) $(2))

.PHONY: help run test test-all bench faults fuzz vuln lab wall cross deb build lint clean

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

run: build ## the demo: a simulated building with two rooms and a stand-in cloud
	bin/roomgate demo

test: ## all tests that need no extra installs; says which were skipped and why
	go vet ./...
	@echo 'left for make test-all, which installs Debian packages:'
	@printf "  %s\n" $(TAGGED) $(ENGINE)
	@$(call gotest,-vet=off ./...)

test-all: ## installs what the other tests need, runs everything, also on emulated ARM and in the lab
	.ci/install
	go vet -tags integration ./...
	@$(if $(RACE),,echo "no C compiler: the race detector is off")
	@$(INSTALLED); $(call gotest,$(RACE) -short -vet=off ./...)
	@$(INSTALLED); $(call gotest,-vet=off -count=1 -parallel 3 -tags integration -run "$(NAMED)" $(sort $(dir $(TAGGED) $(MEASURE))))
	@echo "gateways and backends at each broker of a fleet, and at a database:"
	go -C $(ENGINE) vet ./...
	@$(INSTALLED); $(call gotest,-vet=off -count=1 -parallel 4 ./...,-C $(ENGINE))
	@echo 'linux/arm64 under qemu (without $(FORKS), which fork):'
	@export GOARCH=arm64; $(call emulated,qemu-aarch64-static,./drivers/...)
	@echo "linux/arm (GOARM=7) under qemu (without the same):"
	@export GOARCH=arm GOARM=7; $(call emulated,qemu-arm-static,$(QUICK))
	@echo "words of 32 bits, in what this machine runs itself:"
	@export GOARCH=386 CGO_ENABLED=0; $(call gotest,-short -vet=off $(RECKONS))
	@$(MAKE) --no-print-directory lab

bench: ## speed, size and wear, each beside its limit in the same run
	go test -run '^$$' -bench . -benchtime 1s ./...

faults: ## what goes wrong and what strangers try, as a table; each fault also without its protection. FAULTS='disk|clock': these
	@cd cmd/roomgate && FAULTS='$(FAULTS)' go test -tags faults -count=1 -timeout 80m -run '^TestFaults$$'

fuzz: ## a minute for each parser that strangers reach, as a table. FUZZTIME=10, FUZZ=agent/seed:FuzzRows
	@FUZZTIME='$(FUZZTIME)' FUZZ='$(FUZZ)' .ci/fuzz

vuln: ## known weaknesses of what is inside; says so where their list cannot be reached
	@.ci/vuln $(GOVULNCHECK)

lab: ## drivers, a gateway, the service, its watchdogs and updates on ARM kernels with simulated boards, as a table
	go vet -tags lab $(LAB)
	@drivers/host/lab/run

wall: ## a Debian on a disk in the lab: first boot, package, seed, updates, power cuts; about 20 minutes, takes root
	go vet -tags lab ./cmd/roomgate
	@drivers/host/lab/wall

build: ## bin/roomgate for this machine
	CGO_ENABLED=0 go build $(STAMP) -o bin/roomgate ./cmd/roomgate

cross: ## bin/roomgate-linux-{arm64,armv7,amd64}
	CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go build $(STAMP) -o bin/roomgate-linux-arm64 ./cmd/roomgate
	CGO_ENABLED=0 GOOS=linux GOARCH=arm GOARM=7 go build $(STAMP) -o bin/roomgate-linux-armv7 ./cmd/roomgate
	CGO_ENABLED=0 GOOS=linux GOARCH=amd64 go build $(STAMP) -o bin/roomgate-linux-amd64 ./cmd/roomgate
	@ls -l bin

deb: ## Debian packages in bin for arm64, armhf and amd64; the same commit gives the same bytes
	@VERSION='$(VERSION)' systemd/deb/build arm64 armhf amd64

lint: ## gofmt, go vet, staticcheck, the unit file
	@test -z "$$(gofmt -l .)" || { echo 'not formatted:'; gofmt -l .; exit 1; }
	go vet -tags integration,faults ./...
	go run $(STATICCHECK) -tags integration,faults ./...
	go vet -tags lab $(LAB)
	go run $(STATICCHECK) -tags lab $(LAB)
	go -C $(ENGINE) vet ./...
	cd $(ENGINE) && go run $(STATICCHECK) ./...
	@if command -v systemd-analyze >/dev/null; then .ci/units; else echo 'no systemd-analyze: the units are not checked'; fi

clean: ## removes what was built
	rm -rf bin
