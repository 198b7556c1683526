# Every target works on a fresh machine with Node.js >= 20, npm and make.
# Each recipe ends in `exec`, so that signals reach our processes directly.

NODE := node_modules/.bin/node
READY := node_modules/.install-complete
JEST := $(NODE) --experimental-vm-modules --disable-warning=ExperimentalWarning node_modules/jest/bin/jest.js

.DEFAULT_GOAL := help
.PHONY: help start demo test test-all faults drill bench check release audit migrate retention retry-jobs up

help: ## prints this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' Makefile

start: $(READY) ## starts the product on this machine, has work done that ends in each type of event, delivers them; keeps serving
	@exec $(NODE) tools/dev/main.ts

demo: $(READY) ## the same, but exits after the history: 0 if the receiver verified every delivery
	@exec $(NODE) tools/dev/main.ts --demo

test: $(READY) ## runs unit, integration and end-to-end tests on a real PostgreSQL and a real Redis; ARGS="path" for some of any kind
	@exec $(JEST) $(or $(ARGS),--selectProjects unit integration e2e)

test-all: $(READY) ## also the short campaign, transfers of GiB, other languages, ingress, drills, browsers, deployments
	@exec $(JEST) $(ARGS)

faults: $(READY) ## the fault campaign of docs/reliability.md, in full (an hour); ARGS="R1 redis" for some runs
	@exec $(NODE) tests/faults/campaign.ts $(ARGS)

drill: $(READY) ## ARGS=restore: destroys a system under load and restores it from its backup, on stores of its own (some minutes)
	@exec $(NODE) tests/drills/main.ts $(ARGS)

bench: $(READY) ## the benchmark, in five minutes; FULL=1 in full (an hour, resumes where it stopped), W=W2 for one workload
	@exec $(NODE) bench/main.ts $(ARGS)

check: $(READY) ## checks the package lock, types, lint, formatting, import boundaries, unused code
	@exec npm run --silent check

release: $(READY) ## ARGS=1.2.3: checks everything, then writes the changelog and all versions; --dry-run writes nothing
	@exec $(NODE) tools/release.ts $(ARGS)

audit: $(READY) ## lists known vulnerabilities in the packages that ship; exit 2: the registry gave no advisories
	@exec $(NODE) tools/audit.ts

migrate: $(READY) ## applies the migrations to DATABASE_DIRECT_URL, else to DATABASE_URL
	@exec $(NODE) packages/shared/src/ledger/migrate-main.ts

retention: $(READY) ## removes from DATABASE_URL what is past its time, as the workers do; ARGS=--dry-run says what would go, and when
	@exec $(NODE) services/webhook-worker/src/retention-main.ts $(ARGS)

retry-jobs: $(READY) ## retries failed event-write jobs, in the queue of REDIS_URL, else of DATABASE_URL
	@exec $(NODE) services/webhook-worker/src/retry-jobs-main.ts

# The range of the network that deliveries may reach in the demo; choose another one if it is in use on this machine.
DEMO_SUBNET ?= 172.31.251.0/24
DEMO_SETTINGS := DEMO_SUBNET=$(DEMO_SUBNET) WEBHOOK_ALLOWED_PRIVATE_CIDRS=$(DEMO_SUBNET) WEBHOOK_CA_FILE=/var/lib/demo-ca/ca.pem \
	API_UPSTREAMS=consultations=http://consultations:8080,batches=http://consultations:8080

up: $(READY) ## the production shape with a demo receiver, by docker compose; ARGS="--scale webhook-worker=3" for more workers
	@$(NODE) tools/compose/main.ts
	@exec env $(DEMO_SETTINGS) docker compose --profile demo up --build $(ARGS)

$(READY): package-lock.json
	@exec sh tools/install.sh $(READY)
