# Targets for developers. Before a commit: `make check`. Before a change goes in: `make lint test`,
# which .ci/run calls. At night: `make nightly`. Tools other than Go are pinned, and fetched by Go itself.

SHELL       := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PROTOS      := ./internal/rpc/taskproc ./internal/rpc/wire ./storage/hdfs/pipeline
PACKAGES    ?= ./...
FUZZTIME    ?= 10s
# Build tags of files that `go build ./...` and `go test ./...` leave out; they are vetted all the same.
TAGS        := accept,deploy,hooks,poison,soak
# Random tests draw from this seed, so that a change fails only by its own faults. Another value
# searches elsewhere. HAMMR_TESTS=nightly runs what the gate leaves out, see internal/testing/testlevel.
HAMMR_SEED  ?= 1
export HAMMR_SEED
export RAPID_SEED   ?= $(HAMMR_SEED)
export RAPID_CHECKS ?= $(if $(filter nightly,$(HAMMR_TESTS)),300,30)
# Packages whose product is concurrency: they are tested with the race detector. `make nightly` tests all
# packages with it.
RACED       := ./internal/rpc ./internal/task ./jobmaster ./jobmaster/raftlog ./jobmaster/server ./mr \
               ./shuffle ./shuffle/transfer ./tasknode
# Packages whose tests start processes and wait for them. They run one at a time, after the others, since
# a busy machine is the cause of most time-outs.
PROCESSES   := ./e2e ./e2e/redteam ./bench/fleet ./bench/live ./chaos/drill ./hammrtest ./internal/ops/localcluster \
               ./internal/daemon/masterd ./internal/ops/minihdfs ./internal/ops/sshcluster ./internal/daemon/tasknoded ./internal/web ./storage/hdfs
BENCH       ?= .
CASE        ?=
RIVAL       ?=
ROUNDS      ?= 5
PAPERS      ?= hfsp fair hammr chronos disco
PAPER_FLAGS ?= --workload-dir ../shared/traces
SIZE        ?= 1g

# The race detector needs a C compiler; without one the tests run all the same.
RACE := $(if $(shell command -v "$$(go env CC)"),-race)
# With it every process of a test would wait for a second at its end.
export GORACE := atexit_sleep_ms=0 $(GORACE)
# Test programs without what only debuggers read are linked in half the time.
LINK := -ldflags=-w
# What does not need the race detector is compiled as the static binary is, so that each
# package is compiled once.
PLAIN := CGO_ENABLED=0

# In CI everything is compiled from scratch. The compiler, the linker and staticcheck then collect garbage
# less often, which saves a quarter of their CPU time. Tests run with Go's default. (Outside of CI
# -exec would keep go test from reusing results.)
TOOLS   := $(if $(CI),GOGC=400)
GO_TEST := $(TOOLS) go test $(if $(CI),-exec 'env -u GOGC') $(LINK) -vet=off -v -timeout 20m
# One package at a time runs, in CI while others are compiled.
ALONE := $(if $(and $(CI),$(shell command -v flock)),-p 3 -exec 'env -u GOGC flock -o $(or $(TMPDIR),/tmp)/hammr-tests-$(shell id -u).lock',-p 1)

.PHONY: all build packages image manifests check test nightly lint fuzz redteam soak soak-metamorphic soak-failovers soak-upgrade sweeps poison accept accept-hadoop accept-openapi deploy-test soak-drills soak-fleet soak-year bench bench-cluster bench-rivals bench-recovery bench-failover bench-fleet bench-hooks bench-preempt-latency bench-suspend calibrate drills microbench proto clean

all: build

# One static binary, without what only debuggers read. Traces of panics and profiles keep their names.
build:
	$(PLAIN) $(TOOLS) go build -ldflags='-s -w' -o bin/hammr ./cmd/hammr

# Before a commit: what has changed since the commit SINCE, the tests of the packages that import it, and a
# small cluster, in two minutes with a warm cache.
SINCE ?= HEAD
check: build
	@HAMMR_PROGRAM='$(CURDIR)/bin/hammr' SINCE='$(SINCE)' STATICCHECK='$(STATICCHECK)' TAGS='$(TAGS)' PROCESSES='$(PROCESSES)' .ci/check

# Every test of the gate, without go vet, which `make lint` runs. Those that need a real HDFS start one if
# Java and Maven are there; with CI=true they fail instead of being skipped. Tests of daemons share
# one program. PACKAGES are tested with the race detector.
ifeq ($(PACKAGES),./...)
LISTED = $(shell go list ./...)
absolute = $(patsubst ./%,github.com/hammr/hammr/%,$(1))
test: build
	@export HAMMR_PROGRAM="$(CURDIR)/bin/hammr"; { status=0; \
	  $(PLAIN) $(GO_TEST) -p 3 $(filter-out $(if $(RACE),$(call absolute,$(RACED))) $(call absolute,$(PROCESSES)),$(LISTED)) || status=1; \
	  $(if $(RACE),$(GO_TEST) $(RACE) -p 3 $(RACED) || status=1;) \
	  $(PLAIN) $(GO_TEST) $(ALONE) $(PROCESSES) || status=1; \
	  exit $$status; } 2>&1 | awk -f .ci/tests.awk
else
test:
	@$(GO_TEST) $(RACE) $(PACKAGES) 2>&1 | awk -f .ci/tests.awk
endif

# Everything that takes longer than the gate: four hours in eight parts of half an hour. PART=2/8 runs one.
# HAMMR_SEED is drawn if it is not given, and printed.
PART ?=
nightly: build
	@PART='$(PART)' HAMMR_SEED='$(if $(filter file,$(origin HAMMR_SEED)),,$(HAMMR_SEED))' STATICCHECK='$(STATICCHECK)' PROCESSES='$(PROCESSES)' .ci/nightly

# Formatting, go vet of everything, and staticcheck of the programs, a fifth of its time: `make check` and
# `make nightly` also look at tests and for what is unused. The rules of internal/lint are tests.
lint:
	@unformatted="$$(git ls-files '*.go' | xargs gofmt -l)"; \
	  if [ -n "$$unformatted" ]; then echo "not gofmt-ed:"; echo "$$unformatted"; exit 1; fi
	$(PLAIN) $(TOOLS) go vet -tags $(TAGS) ./...
	$(PLAIN) $(TOOLS) go run $(STATICCHECK) -tests=false -checks 'inherit,-U1000' ./...

# Every fuzz target, FUZZTIME each, also after one has failed. One that fails runs once more: Go before 1.27 may report
# the end of the time as a failure (golang/go#75804), whereas an input that was found is kept, and fails again.
fuzz:
	@failed=; \
	while read -r file target; do \
	  echo "== $$target in $$(dirname $$file)"; \
	  fuzz=(go test "./$$(dirname $$file)" -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME)); \
	  "$${fuzz[@]}" || "$${fuzz[@]}" || failed+=" $$target in $$(dirname $$file)"; \
	done < <(git ls-files '*_test.go' | xargs grep -Ho '^func Fuzz[A-Za-z0-9_]*' | sed 's/:func / /'); \
	[[ -z $$failed ]] || { echo "failed:$$failed"; exit 1; }

# Attacks on a cluster of real daemons, by a user's tasks and submissions and by strangers: a
# line for each, with the refusal. As root, since it makes two accounts for its time.
redteam:
	@log=$$(mktemp); trap 'rm -f "$$log"' EXIT; status=0; \
	  HAMMR_TESTS=nightly go test $(RACE) $(LINK) -vet=off -count=1 -v -timeout 10m ./e2e/redteam >"$$log" 2>&1 || status=$$?; \
	  if [ $$status = 0 ]; then grep -E '^(red team|ok)|SKIP|: needs ' "$$log"; else cat "$$log"; fi; exit $$status

# Hadoop's own YARN, MapReduce and JobHistoryServer against ours, then clients of Hadoop on a cluster.
# UPDATE=-update records the shapes of Hadoop's answers anew. DATADOG_CHECKS is a directory with
# yarn/ and mapreduce/ of DataDog/integrations-core, which are not on PyPI.
UPDATE ?=
accept-hadoop: build
	go test -tags accept -run '^TestOracle' -count 1 -timeout 20m -v ./internal/web/hadoop $(if $(UPDATE),-args $(UPDATE))
	accept/hadoop/run.sh bin/hammr

# Checks that take long or need tools from elsewhere, and a table of their results: about an hour. CHECKS
# are some of them; the soak lasts for MINUTES. A check that lacks its tool counts as not run.
#   hadoop      accept-hadoop, below: Hadoop's daemons and clients of their REST API (Java, Maven, Python with pip)
#   openapi     the REST API against its document, by schemathesis (Python with pip)
#   lighthouse  the browser's measures of eight pages of a job with 100,000 tasks (chromium, Node with npx; LIGHTHOUSE names a program that is installed)
#   screenshots pictures of all pages, wide and narrow, light and dark, against those of the commit BASE (chromium, Maven); it shows what differs
#   proxy       all pages and forms behind nginx, below a path (nginx; NGINX_PROGRAM names it)
#   simulation  answers of a job with 110,000 attempts while it runs, 500 a second
#   watchers    100 and 1,000 clients that follow jobs, or that are idle: what they cost masters, and how soon they see a change
#   soak        clients come and go while leaders are killed; nothing grows
#   logs        1 GiB printed, 10,000 lines a second, bytes that are no text
#   truth       50 jobs that random acts disturb: pages, API, commands and histories show the same; HAMMR_SOAK_SEED is the seed
CHECKS ?=
MINUTES ?= 10
BASE ?=
accept: build
	MINUTES=$(MINUTES) BASE=$(BASE) accept/run.sh $(CHECKS)

# The REST API against its OpenAPI document.
accept-openapi: build
	accept/openapi.sh bin/hammr

# The memory bound on large inputs of every skew: SOAK_MIB=4096 sorts 4 GiB (1024
# when unset), SOAK_GROUP_MIB=10240 gives one key 10 GiB of values (2048). The
# temporary directory needs three times the size.
soak:
	go test -tags soak -run '^TestSoak' -count 1 -timeout 3h -v ./e2e

# Jobs under random schedules of splits, pauses, moves and kills, for DURATION, with
# seeds from FIRST_SEED on (the time when unset): the output is the same bytes as
# without. Each run is named by its seed; sums are printed each minute.
DURATION ?= 1h
FIRST_SEED ?=
soak-metamorphic:
	HAMMR_SOAK_DURATION=$(DURATION) HAMMR_SOAK_SEED=$(FIRST_SEED) \
	  go test $(RACE) -tags soak -run '^TestSoak' -count 1 -timeout 0 -v ./mr

# Jobs on three masters and three tasknodes, all of them processes, whose attempts are
# preempted in any way while leaders, and all masters, are killed and stopped, for
# DURATION: the output is the same bytes as without. Before that, all masters are away
# for OUTAGE while tasks run, which run on and are not run again.
OUTAGE ?= 1m
soak-failovers:
	HAMMR_SOAK_DURATION=$(DURATION) HAMMR_SOAK_SEED=$(FIRST_SEED) HAMMR_SOAK_OUTAGE=$(OUTAGE) \
	  go test -tags soak -run '^TestSoak(Failovers|AllMastersLost)$$' -count 1 -timeout 0 -v ./e2e

# A cluster of the last release (.ci/last-release, built from git) is upgraded while jobs run,
# also while leaders die, a tasknode stops and a disk is slow. Programs of each release run on a
# cluster of the other.
soak-upgrade:
	go test -tags soak -run '^Test(RollingUpgrade.*|OldMasterIsNotAdded|ProgramsOfTheLastRelease)$$' -count 1 -timeout 0 -v ./e2e

# Tests of one way to deploy, which take long. TARGET is one of these:
#   ssh      sshd on addresses of this machine (apt-get install openssh-server)
#   systemd  packages and `hammr cluster` on Debian machines that boot in namespaces (apt-get install mmdebstrap lintian rpm; as root)
#   podman   containers of the image that `make image` builds (apt-get install podman buildah crun netavark aardvark-dns iptables)
#   helm     the chart, by Helm itself
#   kubernetes  manifests and chart on a Kubernetes with fake nodes, which Go builds at first use (10 minutes)
#   slurm    a Slurm with three nodes, which are this machine (apt-get install munge slurmctld slurmd slurm-client; as root)
#   oar      an OAR with three nodes, which are this machine (apt-get install oar-server oar-server-pgsql oar-node oar-user oar-user-pgsql postgresql openssh-server; as root)
#   doctor   a machine with a swap file (as root)
#   cloud    a metadata service for machines in network namespaces (apt-get install cloud-init; as root, or where users may make namespaces)
#   bench-hosts  an experiment of each paper on five machines in network namespaces, with sshd and an HDFS (apt-get install openssh-server iproute2 default-jre-headless maven; as root)
TARGET ?= ssh
DEPLOYED       = go test -tags deploy -count 1 -timeout 1h -v
deploy_ssh     = $(DEPLOYED) ./internal/ops/sshcluster/... && $(DEPLOYED) -run '^Test(ClusterOverSSH.*|ClusterRun|ClusterUpgrade|ClusterWith(HDFS|Yarn))$$' ./e2e
deploy_systemd = $(DEPLOYED) ./deploy/systemdtest
deploy_podman  = $(DEPLOYED) -run '^TestPodman' ./deploy/test
deploy_helm    = $(DEPLOYED) -run '^TestChart' ./deploy/test
deploy_kubernetes = $(DEPLOYED) -run '^TestKubernetes' ./deploy/test
deploy_slurm   = $(DEPLOYED) -run '^TestSlurm' ./e2e
deploy_oar     = $(DEPLOYED) -run '^TestOAR' ./e2e
deploy_doctor  = $(DEPLOYED) -run '^TestSwapOfThisMachine$$' ./internal/ops/doctor
deploy_cloud   = $(DEPLOYED) -run '^TestCloud' ./e2e ./cli
deploy_bench-hosts = $(DEPLOYED) -run '^TestBenchHosts' ./e2e
deploy-test:
	$(or $(deploy_$(TARGET)),$(error there is no TARGET $(TARGET); the Makefile lists them))

# .deb and .rpm of VERSION in dist/, for ARCH. The same commit gives the same bytes.
VERSION ?= 0~$(shell TZ=UTC git show -s --format=%cd --date=format-local:%Y%m%d%H%M%S)
packages:
	deploy/packages/build.sh '$(VERSION)' dist

# The container image IMAGE: one static binary. It needs buildah.
IMAGE ?= hammr:latest
image:
	deploy/image/build.sh $(IMAGE)

# deploy/kubernetes, rendered from the chart in deploy/helm/hammr. A test refuses a difference.
HELM ?= go run helm.sh/helm/v3/cmd/helm@v3.22.0
manifests:
	HELM='$(HELM)' deploy/kubernetes/render.sh

# Searches that the tests sample, in full: each bit of small files of all formats is flipped, and values of many
# random types are encoded.
sweeps:
	go test $(LINK) -vet=off -tags soak -run '^TestSweep' -count 1 -timeout 2h -v ./...

# The tests of the record path with hammr.debug.poison in every job: a kept view changes what they see.
poison:
	go test $(LINK) -vet=off -tags poison -count 1 -timeout 0 ./mr/... ./internal/task/... ./shuffle/... ./examples/...

# A simulated year of a cluster in the replicated state and its controller, in two minutes:
# 10,000 jobs, a million attempts, ever new machines, users and clients. It prints a table:
# what is needed at the end of each month may not grow.
soak-year:
	go test $(LINK) -vet=off -tags soak -run '^TestSoakYear$$' -count 1 -timeout 1h -v ./cluster

# Ours against the yardstick, GNU sort and the coreutils, on the same files in
# alternation. CASE, ROUNDS and SIZE choose; `bin/hammr bench programs --list`
# names the cases. YARDSTICK_DIR has the yardstick's source, BENCH_DIR keeps
# the input (12 times SIZE). Without CASE the rivals follow.
bench: build
	bin/hammr bench programs $(if $(CASE),--case '$(CASE)') --rounds $(ROUNDS) --size $(SIZE)
	$(if $(CASE),,$(MAKE) bench-rivals)

# Ours against DuckDB, Polars, Spark and the coreutils. Those that are not installed are
# skipped; RIVAL_FLAGS=--install installs them for this user. CASE and RIVAL choose;
# `bin/hammr bench rivals --list` names both.
RIVAL_FLAGS ?=
bench-rivals: build
	bin/hammr bench rivals $(if $(CASE),--case '$(CASE)') $(if $(RIVAL),--rival '$(RIVAL)') --rounds $(ROUNDS) --size $(SIZE) $(RIVAL_FLAGS)

# A cluster of processes on this machine against the same program in one process.
bench-cluster: build
	bin/hammr bench programs --case 'cluster-*' --rounds $(ROUNDS) --size $(SIZE)

# RUNS random drills of the seeds from SEED on, with OUT/drills.csv and a report of
# each: ten seconds a drill. KINDS=all has all kinds, partitions and full disks too.
RUNS ?= 20
SEED ?= 1
KINDS ?= kill,restart,stop,corrupt
drills: build
	bin/hammr chaos run --seed $(SEED) --runs $(RUNS) --kinds $(KINDS) --report $(OUT)

# The same for DURATION, of all kinds, with seeds from SEED on.
soak-drills: build
	bin/hammr chaos run --seed $(SEED) --duration $(DURATION) --kinds all --report $(OUT)

# The simulator compared with a cluster of processes on this machine; OUT gets
# calibration.csv. It takes ten minutes, most of which tasks sleep.
calibrate: build
	bin/hammr bench calibrate --out $(OUT)

# How long tasks that were lost with a tasknode wait for a slot, over 20 kills under
# each of two policies: a quarter of an hour, most of which tasks sleep.
bench-recovery: build
	bin/hammr bench recovery

# How long a cluster takes to serve again when its leader is killed, is stopped, or has
# a disk that stalls: six minutes for 20 FAILOVERS of each kind.
FAILOVERS ?= 20
bench-failover: build
	bin/hammr bench failover --rounds $(FAILOVERS)

# Three masters with MACHINES fake machines on this machine: some or all SCENARIOS, and a
# soak of DURATION with faults. FLEET_FLAGS=--strict fails when a goal is missed.
MACHINES ?= 1000
SCENARIOS ?= throughput,running,outputs,failover,rack,outage,flap
FLEET_FLAGS ?=
bench-fleet: build
	bin/hammr bench fleet --machines $(MACHINES) --scenario $(SCENARIOS) $(if $(OUT),--out $(OUT)) $(FLEET_FLAGS)

soak-fleet: build
	bin/hammr bench fleet --machines $(MACHINES) --scenario mixed --duration $(DURATION) $(if $(OUT),--out $(OUT)) $(FLEET_FLAGS)

# What preemption costs. The record loops with and without their checks for orders, in
# LAYOUTS builds that the linker lays out in different ways: three and a half
# minutes for 200 PAIRS in each. Times from orders to free slots on a cluster of processes: a
# quarter of an hour for 40 ORDERS of each kind. Suspending and resuming against
# memory, with a swap file in SWAP_DIR: ten minutes, as root. OUT gets a directory of
# CSV for each.
PAIRS ?= 200
LAYOUTS ?= 5
ORDERS ?= 40
SUSPEND_ROUNDS ?= 5
SWAP_DIR ?= /var/tmp
bench-hooks:
	for layout in $$(seq $(LAYOUTS)); do HAMMR_HOOKS_PAIRS=$(PAIRS) HAMMR_HOOKS_OUT=$(abspath $(OUT))/hooks \
	  go test -tags hooks -ldflags=-randlayout=$$layout -run '^TestCostOfHooks$$' -count 1 -timeout 1h -v ./mr || exit 1; done

bench-preempt-latency: build
	bin/hammr bench latency --out $(OUT)/latency --orders $(ORDERS)

bench-suspend: build
	bin/hammr bench suspend --out $(OUT)/suspend --swap-dir $(SWAP_DIR) --rounds $(SUSPEND_ROUNDS)

# The experiments of PAPERS in the simulator, into docs/papers: a quarter of an hour
# of CPU time, nearly all of it for hfsp. PAPER_FLAGS=--short takes seconds.
bench-papers: build
	for p in $(PAPERS); do \
	  rm -rf "docs/papers/$$p" && bin/hammr bench paper "$$p" --sim $(PAPER_FLAGS) --out "docs/papers/$$p" || exit 1; \
	done

# Go benchmarks with allocations; BENCH chooses some by name.
microbench:
	go test -run '^$$' -bench '$(BENCH)' -benchmem $(PACKAGES)

# Go code from the .proto files. The generators are built at the versions of
# their runtimes in go.mod; protoc comes with the system
# (apt-get install protobuf-compiler).
proto:
	@command -v protoc >/dev/null || { echo "protoc is missing: apt-get install protobuf-compiler"; exit 1; }
	go build -o bin/protoc-gen-go google.golang.org/protobuf/cmd/protoc-gen-go
	go build -o bin/protoc-gen-connect-go connectrpc.com/connect/cmd/protoc-gen-connect-go
	PATH="$(CURDIR)/bin:$$PATH" go generate $(PROTOS)

clean:
	rm -rf bin dist
