# What can be done here. Each target is one line of `make help`.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
STAMP   := -trimpath -ldflags '-s -w -X main.version=$(VERSION)'
# The race detector needs a C compiler; without one the tests run without it. In
# virtual time it crashes now and then where timers fire on two processors at
# once (golang/go#78156), so it gets one.
RACE    := $(if $(shell command -v gcc clang 2>/dev/null),-race -cpu 1)
# The race detector has each program wait a second when it ends, for what may race
# then. Without it the tests take half a minute less, and what races only at the end
# of a program is not looked for here; most packages with goroutines have goleak.
HASTY   := GORACE="$$GORACE atexit_sleep_ms=0"
# What runs under qemu and ends within minutes. On arm64, whose words are those of
# amd64, it is what speaks to the kernel, the disk and the wire, and counts time;
# the lab has the whole gateway there. Words of 32 bits concern the building too.
QUICK   := ./store/... ./drivers/... ./cloud ./agent/booking ./agent/calendar
QUICK32 := $(QUICK) ./agent/...
# These start other programs: the kernel does not know how to run their own binary
# again, and a fork of many threads hangs under qemu now and then.
FORKS   := CheckInChild|OnlyACrashOfTheChild|StoppedCheck|KilledWriter|SuiteFindsFlaws|Mosquitto
# The names that tests of what goes wrong carry.
FAULTS  := Crash|Kill|Cut|Damage|Lost|Full|Fault|Broken|Panic|Hang|Interrupted|Unplug|Stuck|Garbled|Vanish|Jam|Stall|Bounded
# What strangers can make the gateway take, without the race detector, which needs
# memory of its own.
MEMORY  := -run 'MemoryIsBounded|MemoryOfAGateway|MemoryOfHostile|LeaveTheProcessWhole|DoNotDelayTheCloud' ./cloud/broker ./cmd/roomgate ./agent/calendar
# What is behind the build tag lab.
LAB     := ./drivers/host/lab ./cmd/roomgate
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

# Runs go test and prints its plain lines, the whole output of what failed, and
# what was skipped with the reason: $(call gotest,flags and packages)
gotest = { go test -v -timeout 15m $(1) 2>&1; echo "exit $$?"; } | awk -f .ci/report.awk

# What is behind the build tag integration. The other packages are tested without
# the tag, as by make test: what passed there with the same flags is not repeated.
# Those with the tag are: what they build and start Go does not see.
TAGGED  = $(shell grep -rl --include='*_test.go' '^//go:build .*integration' . | xargs dirname | sort -u)
UNTAGGED = $$(go list ./... | grep -vxF "$$(go list -tags integration $(TAGGED))")
# Tests that look for programs are: they have read PATH, which Go compares, while
# it does not see what was installed into a folder of it.
INSTALLED := export PATH="$$PATH:/usr/sbin"

# Go interrupts its threads by signals, which qemu sometimes loses: off.
emulated = export CGO_ENABLED=0 GODEBUG=asyncpreemptoff=1; \
	$(call gotest,-short -skip '$(FORKS)' -exec $(1) $(2))

.PHONY: help run test test-all bench faults lab wall cross deb build lint clean

help: ## this list
	@awk -F ':[^#]*## ' '/^[a-z-]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' Makefile

run: build ## the demo: a simulated building with two rooms and a stand-in cloud
	bin/roomgate demo

test: ## all tests that need no extra installs; says which were skipped and why
	@$(if $(RACE),,echo 'no C compiler: the race detector is off')
	go vet ./...
	@echo 'left for make test-all, which installs Debian packages:'
	@grep -rl --include='*_test.go' '^//go:build .*integration' . | sed 's/^/  /' || true
	@export $(HASTY); $(call gotest,$(RACE) -vet=off ./...)

test-all: ## installs what the other tests need, runs everything, also on emulated ARM and in the lab
	.ci/install
	go vet -tags integration ./...
	@$(INSTALLED); $(call gotest,$(RACE) $(UNTAGGED))
	@$(INSTALLED); $(call gotest,$(RACE) -count=1 -tags integration $(TAGGED))
	@$(call gotest,$(MEMORY))
	@echo 'linux/arm64 under qemu (without $(FORKS), which fork):'
	@export GOARCH=arm64; $(call emulated,qemu-aarch64-static,$(QUICK))
	@echo 'linux/arm (GOARM=7) under qemu (without the same):'
	@export GOARCH=arm GOARM=7; $(call emulated,qemu-arm-static,$(QUICK32))
	@$(MAKE) --no-print-directory lab

bench: ## speed, size and wear, each beside its limit in the same run
	go test -run '^$$' -bench . -benchtime 1s ./...

faults: ## power cuts, crashes, full disks, broken devices
	@$(call gotest,$(RACE) -tags integration -run '$(FAULTS)' ./...)
	@$(call gotest,$(MEMORY))

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
	go vet -tags integration ./...
	go run $(STATICCHECK) -tags integration ./...
	go vet -tags lab $(LAB)
	go run $(STATICCHECK) -tags lab $(LAB)
	@if command -v systemd-analyze >/dev/null; then .ci/units; else echo 'no systemd-analyze: the units are not checked'; fi

clean: ## removes what was built
	rm -rf bin
