# Every target is one command on a fresh machine with Node.js >= 20, npm and make.
# Signals reach our processes directly: each recipe ends in `exec`.

NODE := node_modules/.bin/node
READY := node_modules/.install-complete

.DEFAULT_GOAL := help
.PHONY: help start demo test faults bench check audit migrate up

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile

start: $(READY) ## the product on this machine, with a tour: every event delivered, verified, listed; keeps serving
	@exec $(NODE) tools/dev/main.ts

demo: $(READY) ## the same tour, ends after it: exit 0 when all deliveries were verified
	@exec $(NODE) tools/dev/main.ts --demo

test: $(READY) ## every test, on a real PostgreSQL and a real Redis; ARGS="path" for some of them
	@exec $(NODE) tools/test/main.ts $(ARGS)

faults: $(READY) ## every promise of the design broken on purpose, in full (an hour); ARGS="R1 redis" for some
	@exec $(NODE) tests/faults/campaign.ts $(ARGS)

bench: $(READY) ## what a delivery costs, in five minutes; FULL=1 in full (an hour, goes on where it stopped), W=W2 a part
	@exec $(NODE) bench/main.ts $(ARGS)

check: $(READY) ## types, lint, formatting, import boundaries, unused code
	@exec npm run --silent check

audit: $(READY) ## known vulnerabilities in the packages that ship; 2: the registry does not say
	@exec $(NODE) tools/audit.ts

migrate: $(READY) ## applies the migrations to DATABASE_URL
	@exec $(NODE) packages/shared/src/ledger/migrate-main.ts

# The range of the network that deliveries may reach in the demo; choose another one if it is in use on this machine.
DEMO_SUBNET ?= 172.31.251.0/24
DEMO_SETTINGS := DEMO_SUBNET=$(DEMO_SUBNET) WEBHOOK_ALLOWED_PRIVATE_CIDRS=$(DEMO_SUBNET) WEBHOOK_CA_FILE=/var/lib/demo-ca/ca.pem

up: $(READY) ## the production shape with a demo receiver, by docker compose; ARGS="--scale webhook-worker=3" for more workers
	@$(NODE) tools/compose/main.ts
	@exec env $(DEMO_SETTINGS) docker compose --profile demo up --build $(ARGS)

$(READY): package-lock.json
	@exec sh tools/install.sh $(READY)
