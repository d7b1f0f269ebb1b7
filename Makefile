# make demo    builds sandbox-run and runs a program in each language
# make test    passes the tests
# make help    lists the rest

GO       ?= go
BIN      := bin
VERSION  := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS  := -s -w -X main.version=$(VERSION)
COMMANDS := $(notdir $(wildcard cmd/*))

export CGO_ENABLED = 0

.DEFAULT_GOAL := build

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

.PHONY: build
build: ## build every command into bin/
	@for c in $(COMMANDS); do $(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN)/$$c ./cmd/$$c || exit; done

.PHONY: setup
setup: ## install the toolchains that are missing (Debian and Ubuntu)
	@scripts/setup.sh

.PHONY: demo
demo: setup build ## run a real program in each of the five languages, in the sandbox
	@scripts/demo.sh $(BIN)/sandbox-run

.PHONY: vet
vet: ## go vet
	$(GO) vet -trimpath ./...

.PHONY: lint
lint: ## golangci-lint with the project's rules
	scripts/lint.sh

.PHONY: test
test: setup build vet ## the whole test suite
	scripts/test.sh

.PHONY: cover
cover: setup ## test coverage, runs of the built binary included
	scripts/cover.sh

.PHONY: programs
programs: build ## run the corpus of programs bare and in the sandbox, and compare
	@for l in python javascript go rust java; do test/programs/record.sh $$l || exit; done
	$(GO) test -count=1 -timeout 60m -run TestPrograms -v ./test/cli -all-programs

# The image of sandbox-server is IMAGE:TAG; ENGINE builds its TARGET from BASE, and pushes it.
ENGINE ?= docker
IMAGE  ?= sandbox-server
TARGET ?= server
TAG    ?= $(VERSION)$(patsubst %,-%,$(filter-out server,$(TARGET)))
BASE   ?= python:3.12-slim
# Podman and Buildah keep the health check in Docker's format alone.
BUILD_FLAGS ?= $(if $(filter podman buildah,$(ENGINE)),--format docker)

.PHONY: sandbox-build
sandbox-build: ## build the server's image, IMAGE:TAG; TARGET=all: five languages and not Python alone; BASE, ENGINE
	$(ENGINE) build $(BUILD_FLAGS) -f Containerfile.sandbox --target $(TARGET) --build-arg BASE=$(BASE) --build-arg VERSION=$(VERSION) -t $(IMAGE):$(TAG) .

.PHONY: sandbox-push
sandbox-push: ## push it to the registry that IMAGE names
	$(ENGINE) push $(IMAGE):$(TAG)

.PHONY: test-sandbox
test-sandbox: ## the suite of sandbox-server alone, here and, where there can be a Docker, in the image
	$(GO) test -count=1 -timeout 20m ./test/sandbox ./internal/server/... ./internal/daemon/...
	scripts/test-image.sh --or-skip

.PHONY: test-image
test-image: ## build the server's image, and run the suite in it in each way that the guide names
	scripts/test-image.sh

.PHONY: load
load: ## 64 clients for a minute, and 50 crashes of the server in 20 runs
	$(GO) test -count=1 -timeout 30m -v -run 'TestLoad|TestFirstByte|TestCrashes' ./test/sandbox -load 60s -crashes 50

# For an ordinary user the tests of what asks for it would be skipped, and succeed.
.PHONY: root
root:
	@[ "$$(id -u)" -eq 0 ] || { echo "make $(MAKECMDGOALS): its tests need root: sudo make $(MAKECMDGOALS)" >&2; exit 1; }

CRASHES ?= 1000

.PHONY: crash
crash: root ## 1,000 crashes and recoveries at every step of a container's life (root); CRASHES=100 for fewer
	$(GO) test -count=1 -timeout 60m -v ./test/crash -recoveries $(CRASHES)

# gVisor's defaults are those of a machine with KVM or a new kernel; these run anywhere.
RUNSC ?= runsc --platform=ptrace --ignore-cgroups --network=none

.PHONY: test-oci
test-oci: root setup build ## every OCI runtime: crun, runc and gVisor's runsc, which it installs (root)
	scripts/install.sh crun runc runsc
	$(GO) test -count=1 -timeout 30m ./pkg/sandbox/oci -oci 'crun,runc,$(RUNSC)'
	$(GO) test -count=1 -timeout 60m -run TestVerdicts ./test/cli -runtimes 'crun,runc,$(RUNSC)'

.PHONY: test-runtimes
test-runtimes: ## every runtime through every verdict, Docker, Podman, remote and e2b too; writes the table of docs/RUNTIMES.md
	scripts/test-runtimes.sh

.PHONY: test-docker
test-docker: ## containers of Docker and of Podman, which it installs and starts; or of the engine that DOCKER_HOST names
	scripts/test-docker.sh

.PHONY: test-default-image
test-default-image: build ## build the default image from Debian's servers (400 MB), and run five languages in it
	$(GO) test -count=1 -timeout 30m -v -run TestDefaultImage ./test/cli -default-image

.PHONY: hostile
hostile: setup ## programs that want out, in every language, level and user; in other runtimes too with TYPES=oci,docker,remote; in ready containers with READY=1; TABLE=FILE; some hours: JOURNAL=FILE goes on where a run ended, or after FOR=DURATION was to end
	scripts/hostile.sh '$(TYPES)' $(if $(READY),-ready) $(if $(TABLE),-table $(abspath $(TABLE))) $(if $(JOURNAL),-journal $(abspath $(JOURNAL))) $(if $(FOR),-for $(FOR))

.PHONY: mutations
mutations: ## leave out one guard after the other, and see which hostile programs notice; writes docs/MUTATIONS.md (root)
	$(GO) test -count=1 -timeout 120m -v -run TestMutations ./test/hostile -mutations -table ../../docs/MUTATIONS.md

.PHONY: soak
soak: setup ## 10,000 mixed runs at twice the capacity, every stressor of stress-ng inside, 1,000 calls of the tool, and the look of the first and the thousandth run in ready containers; SOAK=RUNS (30 minutes)
	scripts/install.sh stress-ng
	$(GO) test -count=1 -timeout 120m -v -run 'TestSoak|TestStress' ./test/soak -soak $(or $(SOAK),10000) -stress all
	$(GO) test -count=1 -timeout 20m -v -run TestNothingStaysBehind ./test/cli -leak-runs 1000
	$(GO) test -count=1 -timeout 20m -v -run TestManyRunsLookTheSame ./test/sandbox -runs 1000
	$(GO) test -count=1 -timeout 20m -v -run TestReadyContainersLookTheSame ./internal/posture -ready 1000

.PHONY: soak-race
soak-race: setup ## the mixed runs for an hour on a server with the race detector and ready containers; FOR=DURATION
	$(GO) test -count=1 -timeout 0 -v -run TestSoak ./test/soak -race-server -warm auto -for $(or $(FOR),1h)

.PHONY: fuzz-long
fuzz-long: ## every fuzz target, one after the other, for FUZZTIME each (10m); the corpus stays in FUZZ_CORPUS
	scripts/fuzz.sh

.PHONY: faults
faults: root setup ## every system call of a run made to fail, on hosts that are short of everything too (root; half an hour)
	scripts/install.sh strace
	$(GO) test -count=1 -timeout 120m -v ./test/faults -all

.PHONY: test-vm
test-vm: build ## the suite in a virtual machine with systemd and cgroup v2
	scripts/test-vm.sh

.PHONY: hostile-vm
hostile-vm: setup ## the hostile programs, crashes and faults in a virtual machine with cgroup v2; SUITES='hostile crash'
	scripts/hostile-vm.sh $(SUITES)

.PHONY: test-container
test-container: ## the suite in unprivileged Docker containers, at isolation restricted
	scripts/test-container.sh

.PHONY: init
init: ## rebuild the init and the library for Node (needs gcc and gcc-aarch64-linux-gnu)
	internal/kernel/spawn/init/build.sh
	pkg/executor/language/node_near/build.sh

.PHONY: bench
bench: setup build ## measure runs beside the bare toolchains: latency, throughput, overhead, idle containers; then, as root with apt, beside other technologies, which it installs; REPORT=FILE, PLOTS=DIR (three hours)
	failed=; \
	$(BENCH) -timeout 300m -rounds 300 -idle 60ms -clients 1,2,4,16 -slice 10s -slices 3 -pairs 30 -size 1 -idlers 1000 -watch 10s -most 1000 $(if $(PLOTS),-plots $(abspath $(PLOTS))) || failed=1; \
	$(BENCH) -timeout 120m -run TestLatency -rounds 300 -idle 60ms -cpus $$(nproc) || failed=1; \
	$(BENCH) -timeout 120m -run TestLatency -rounds 300 -idle 0 || failed=1; \
	$(BENCH) -timeout 60m -run TestLatency -rounds 100 -idle 60ms -warm single-use || failed=1; \
	if [ $$(id -u) -eq 0 ] && command -v apt-get >/dev/null; then scripts/evaluate.sh $(if $(REPORT),>>$(REPORT)) || failed=1; fi; \
	[ -z "$$failed" ]
# Of the Pythons that a machine has, Debian's starts fastest: the others would flatter us.
BENCH = PATH=/usr/bin:/bin:$$PATH $(GO) test -count=1 -v ./test/bench $(if $(REPORT),-report $(abspath $(REPORT)))

.PHONY: evaluate
evaluate: build ## measure the sandboxing technologies that docs/TECHNOLOGY_EVALUATION.md compares
	scripts/evaluate.sh

.PHONY: oneshot
oneshot: build ## what one call of sandbox-run costs beside the bare interpreter
	scripts/oneshot.sh $(BIN)/sandbox-run

.PHONY: clean
clean: ## remove what was built
	rm -rf $(BIN) coverage
