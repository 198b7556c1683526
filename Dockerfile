# Every image of the product: `docker build --target api .`, `--target webhook-worker`, `--target migrate`; for the demo
# also `--target consultations`, `--target demo-receiver`.
# Node runs the TypeScript sources as they are: packages are installed, and only the pages of the console are built.

ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

# The lock, and the manifests that it names.
FROM base AS manifests
COPY package.json package-lock.json ./
COPY packages/cli/package.json packages/cli/
COPY packages/console/package.json packages/console/
COPY packages/sdk/package.json packages/sdk/
COPY packages/shared/package.json packages/shared/
COPY packages/testkit/package.json packages/testkit/
COPY services/api/package.json services/api/
COPY services/webhook-worker/package.json services/webhook-worker/

# For each program the packages that it needs, and no others; sbom.cdx.json is the list of them (CycloneDX). The workspace
# packages stay links into /app: Node refuses to run TypeScript that lies in node_modules. What the root's manifest wants
# for development goes before the list is made, or npm would miss it.
FROM manifests AS migrate-packages
RUN npm ci --omit=dev --no-audit --no-fund --workspace=packages/shared \
 && rm -r package-lock.json packages/testkit packages/cli packages/console packages/sdk services \
 && npm pkg delete devDependencies scripts overrides allowScripts \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

FROM manifests AS webhook-worker-packages
RUN npm ci --omit=dev --no-audit --no-fund --workspace=services/webhook-worker \
 && rm -r package-lock.json packages/testkit packages/cli packages/console packages/sdk services/api \
 && npm pkg delete devDependencies scripts overrides allowScripts \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

FROM manifests AS api-packages
RUN npm ci --omit=dev --no-audit --no-fund --workspace=services/api --workspace=packages/cli \
 && rm -r package-lock.json packages/testkit packages/console services/webhook-worker \
 && npm pkg delete devDependencies scripts overrides allowScripts \
 && (cd packages/sdk && npm pkg delete devDependencies) \
 && npm sbom --sbom-format=cyclonedx --sbom-type=application > sbom.cdx.json

# The SDK and the command line as customers install them. The API serves them at /docs/downloads.
FROM manifests AS downloads
RUN npm ci --omit=dev --no-audit --no-fund --workspace=packages/cli
RUN npm install --omit=dev --save-prod --no-save --no-audit --no-fund $(node -p "const wanted = require('./package.json').devDependencies; ['@types/node', 'typescript'].map((name) => name + '@' + wanted[name]).join(' ')")
COPY LICENSE tsconfig.base.json ./
COPY packages/cli packages/cli
COPY packages/sdk packages/sdk
COPY tools/pack tools/pack
RUN node tools/pack/main.ts downloads

# The pages at /console.
FROM manifests AS console
RUN npm ci --omit=dev --no-audit --no-fund --workspace=packages/console
COPY packages/console packages/console
RUN node packages/console/build.ts

FROM base AS sources
COPY packages/cli packages/cli
COPY packages/sdk packages/sdk
COPY packages/shared packages/shared
COPY services services
# Code that is made for tests must not reach production.
RUN find packages services -type d -name testing -prune -exec rm -r {} +

# The files belong to root and the processes run as `node`: an attacker inside a process cannot change its programs.
FROM base AS runtime
# The base image brings npm, yarn and corepack, which no process here runs.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg /opt/yarn-*
COPY LICENSE deploy/image/healthy.sh ./
COPY --from=sources /app/packages/shared packages/shared
# The user `node` of the base image, by number: Kubernetes can verify runAsNonRoot only of a number.
USER 1000:1000
STOPSIGNAL SIGTERM

# For `make up` only: the demo's receiver, which makes its own certificate authority and registers its webhook.
FROM manifests AS demo-packages
RUN npm ci --omit=dev --no-audit --no-fund --workspace=packages/shared
# Three development packages of the root, at the versions of the lock. --save-prod makes npm install them in spite of
# --omit=dev; --no-save leaves the manifests as they are.
RUN npm install --omit=dev --save-prod --no-save --no-audit --no-fund $(node -p "const wanted = require('./package.json').devDependencies; ['@peculiar/x509', 'got', 'reflect-metadata'].map((name) => name + '@' + wanted[name]).join(' ')")

FROM base AS demo-receiver
COPY --from=demo-packages /app ./
COPY LICENSE ./
COPY packages packages
COPY tools tools
# A new volume gets the owner of the folder on which it is mounted.
RUN install --directory --owner=1000 --group=1000 --mode=0755 /var/lib/demo-ca \
 && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/demo-receiver
USER 1000:1000
STOPSIGNAL SIGTERM
EXPOSE 8443
# Any status is healthy: an answer proves that the listener, the certificate and its authority work.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD NODE_EXTRA_CA_CERTS=/var/lib/demo-ca/ca.pem node -e "fetch('https://localhost:8443/').then(() => process.exit(0), () => process.exit(1))"
CMD ["node", "tools/compose/demo-receiver.ts"]

# For `make up` only: the example of an internal service, on the packages of the API.
FROM runtime AS consultations
COPY --from=api-packages /app ./
COPY examples/consultations examples/consultations
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD exec bash healthy.sh "${PORT:-8080}"
CMD ["node", "examples/consultations/main.ts"]

# Applies the migrations of this version to DATABASE_URL, then ends.
FROM runtime AS migrate
COPY --from=migrate-packages /app ./
CMD ["node", "packages/shared/src/ledger/migrate-main.ts"]

FROM runtime AS webhook-worker
COPY --from=webhook-worker-packages /app ./
COPY --from=sources /app/services/webhook-worker services/webhook-worker
ARG BUILD_COMMIT=
ENV BUILD_COMMIT=${BUILD_COMMIT}
EXPOSE 3002
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD exec bash healthy.sh "${WORKER_PORT:-3002}"
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=1024", "services/webhook-worker/src/main.ts"]

FROM runtime AS api
COPY --from=api-packages /app ./
COPY --from=sources /app/packages/cli packages/cli
COPY --from=sources /app/packages/sdk packages/sdk
COPY --from=sources /app/services/api services/api
COPY docs/customers docs/customers
COPY docs/operators/runbooks.md docs/operators/
COPY --from=downloads /app/services/api/dist/downloads services/api/dist/downloads
COPY --from=console /app/packages/console/dist packages/console/dist
# The command line reads the container's own settings: `kubectl exec deploy/api -- enterprise-api ops stats`.
# Operators host the page of the runbooks: `kubectl exec deploy/api -- cat runbooks.html > runbooks.html`.
USER 0:0
RUN ln -s /app/packages/cli/bin/enterprise-api.js /usr/local/bin/enterprise-api \
 && node services/api/src/runbooks-main.ts runbooks.html
USER 1000:1000
ARG BUILD_COMMIT=
ENV BUILD_COMMIT=${BUILD_COMMIT}
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD exec bash healthy.sh "${API_PORT:-3000}"
CMD ["node", "--min-semi-space-size=16", "--max-semi-space-size=16", "--max-old-space-size=1024", "services/api/src/main.ts"]
