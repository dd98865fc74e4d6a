# The usual verbs. `make` lists them; .ci/run runs the same targets in a fresh
# clone, so that CI and a developer's machine cannot disagree.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

MODULE := github.com/gridstand/gridstand

# The tools, pinned. buf comes as a binary by npm; the generators are tools of
# go.mod, so that they always equal the runtime that they generate for.
BUF := npx --yes @bufbuild/buf@1.75.0
GOLANGCI_LINT := go run github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0
GO_LICENSES := go run github.com/google/go-licenses@v1.6.0
GOVULNCHECK_VERSION := v1.8.0

# Licences under which code may be used: none of them asks for
# more than to be named, or (MPL) for changes to its own files.
LICENSES := MIT,Apache-2.0,BSD-2-Clause,BSD-3-Clause,ISC,BSL-1.0,MPL-2.0,Unlicense

# What the binaries say of themselves.
VERSION ?= $(shell git describe --tags --dirty --match 'v*' 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)
STAMP := -s -w -X $(MODULE)/internal/version.Version=$(VERSION) -X $(MODULE)/internal/version.Commit=$(COMMIT)

# The messages that must stay readable: the contract, for programs that others
# wrote, and the log's entries, for games that are stored. Each module of
# buf.yaml with the image of what was accepted last.
ACCEPTED := proto=proto/accepted.binpb server/internal=server/internal/gamelog/v1/accepted.binpb

# Which benchmarks run, and the commit that bench-compare holds them against.
BENCH ?= .
BASE ?= HEAD~1

# Needs room: the code runs about five times slower under the race detector. To
# link forty test binaries without what only debuggers read saves a fifth of that.
RACE_TIMEOUT ?= 20m
RACE = $$(go env GOFLAGS) -race -timeout=$(RACE_TIMEOUT) -ldflags=-w -vet=off

# How long the long tests of one package may take.
LONG_TIMEOUT ?= 30m

.PHONY: help
help: ## List the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-23s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: bin/gridstand-server bin/gridstand ## Build both programs into bin/, static, version and commit in them

.PHONY: bin/gridstand-server bin/gridstand
bin/gridstand-server: PROGRAM := ./cmd/gridstand-server
bin/gridstand: PROGRAM := ./cmd/gridstand
bin/gridstand-server bin/gridstand:
	CGO_ENABLED=0 go build -trimpath -buildvcs=false -ldflags '$(STAMP)' -o $@ $(PROGRAM)

.PHONY: test
test: ## Run the tests but the long ones; redis-server and tmux are used if they are installed
	go test ./...

.PHONY: test-short
test-short: ## Run the tests that take no more than a moment
	go test -short ./...

# Their names end in _long; see internal/longtest. Without vet: make vet does that.
.PHONY: test-long
test-long: export TEST_LONG := 1
test-long: ## Run the long tests, which make test leaves out, and no others
	go test -vet=off -run '_long$$' -parallel=2 -timeout=$(LONG_TIMEOUT) $$(grep -rl --include='*_test.go' 'longtest\.Skip(' . | xargs -n 1 dirname | sort -u)

.PHONY: race
race: ## Run make test under the race detector (needs a C compiler), without vet
	GOFLAGS="$(RACE)" $(MAKE) test

.PHONY: race-long
race-long: ## Run make test-long under the race detector
	GOFLAGS="$(RACE)" $(MAKE) test-long

# How long each fuzz target runs with make fuzz.
FUZZTIME ?= 2s

.PHONY: fuzz
fuzz: export FUZZTIME := $(FUZZTIME)
fuzz: ## Fuzz every target for FUZZTIME; what fails is kept in testdata/fuzz
	scripts/fuzz.sh

# How long make storm goes on.
STORM ?= 10m

.PHONY: storm
storm: export TEST_LONG := 1
storm: ## Break things between servers, Redis and clients for STORM, drawn anew each time
	go test ./server/internal/test/fault -run '^TestStorm_long$$' -v -timeout 0 -args -storm=$(STORM)

.PHONY: bench
bench: ## Print the table of figures beside their bare limits (needs redis-server; BENCH=Moves for some)
	go test -p 1 -run '^$$' -bench '$(BENCH)' -benchtime 1x -timeout 2h ./... | go run ./internal/ratio/table

.PHONY: bench-compare
bench-compare: ## Compare the figures of two commits (BASE=HEAD~1 or so; BENCH=Moves for some)
	scripts/bench-compare.sh '$(BASE)' '$(BENCH)'

.PHONY: check
check: ## Run everything that CI runs
	.ci/run --no-install

.PHONY: vet
vet: ## Run go vet
	go vet ./...

.PHONY: lint
lint: ## Run golangci-lint, which also holds the import direction
	$(GOLANGCI_LINT) run --allow-parallel-runners

.PHONY: licenses
licenses: ## Fail where a dependency has a licence that is not allowed
	$(GO_LICENSES) check ./... --include_tests --allowed_licenses=$(LICENSES)

.PHONY: vulnerabilities
vulnerabilities: export GOVULNCHECK_VERSION := $(GOVULNCHECK_VERSION)
vulnerabilities: export VULNERABILITIES_UNCHECKED := $(VULNERABILITIES_UNCHECKED)
vulnerabilities: ## Fail on known vulnerabilities, and if their database cannot be reached
	scripts/vulnerabilities.sh

.PHONY: fmt
fmt: ## Format Go and protocol buffers
	$(GOLANGCI_LINT) fmt
	$(BUF) format -w

.PHONY: check-format
check-format: ## Fail where make fmt would change something
	$(GOLANGCI_LINT) fmt -d
	$(BUF) format -d --exit-code

.PHONY: check-tidy
check-tidy: ## Fail where go mod tidy would change something
	go mod tidy -diff

.PHONY: generate
generate: ## Generate Go from the .proto files
	$(BUF) generate

.PHONY: check-generated
check-generated: ## Fail where make generate would change something
	@fresh=$$(mktemp -d); trap 'rm -rf "$$fresh"' EXIT; \
	sums() { (cd "$$1" && find . -name '*.pb.go' -not -path './.*' -exec sha256sum {} + | sort -k 2); }; \
	$(BUF) generate -o "$$fresh"; \
	diff <(sums .) <(sums "$$fresh") || { echo 'generated code is not current: run make generate' >&2; exit 1; }

.PHONY: lint-contract
lint-contract: ## Lint the .proto files
	$(BUF) lint

.PHONY: breaking
breaking: ## Fail where a change of the .proto files would break a client or a stored game
	@for pair in $(ACCEPTED); do \
	  (set -x; $(BUF) breaking "$${pair%%=*}" --against "$${pair#*=}"); \
	done

.PHONY: contract-accept
contract-accept: ## Accept the .proto files as what must not be broken from now on: only on purpose
	@for pair in $(ACCEPTED); do \
	  (set -x; $(BUF) build "$${pair%%=*}" --exclude-source-info -o "$${pair#*=}"); \
	done

.PHONY: playthroughs
playthroughs: ## Write the recorded games of every variant anew
	go test ./game/variants -update

.PHONY: golden
golden: ## Write the expected screens of the client anew
	go test ./cmd/gridstand/internal/tui -update

.PHONY: image
image: export VERSION := $(VERSION)
image: export COMMIT := $(COMMIT)
image: ## Build the server's container image, version and commit in it
	scripts/compose.sh build server

.PHONY: pin-images
pin-images: ## Pin the images of Dockerfile and compose files to what the registry holds now
	scripts/pin-images.sh

.PHONY: compose-try
compose-try: bin/gridstand ## Bring the compose stacks up, play while containers die, take them down
	CGO_ENABLED=0 go test -trimpath -buildvcs=false -count=1 -timeout 1h -v ./test/compose -args -compose

.PHONY: compose-try-offline
compose-try-offline: ## The same with a Docker of its own and stand-in images, where no registry is
	scripts/with-local-docker.sh $(MAKE) compose-try

.PHONY: compose-try-if-possible
compose-try-if-possible: ## Either of the two; where neither can be, say why
	scripts/compose-if-possible.sh

.PHONY: picture
picture: build ## Draw the README's picture anew from real screens
	scripts/picture.sh docs

.PHONY: clean
clean: ## Remove what was built
	rm -rf bin
