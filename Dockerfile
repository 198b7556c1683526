# Every image of the product: `docker build --target api .`, `--target webhook-worker`; for the demo also
# `--target consultations`, `--target demo-receiver`.
# Node runs the TypeScript sources as they are: there is nothing to build, only packages to install.

ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

# The packages that production needs. The workspace packages stay links into /app: Node refuses to run TypeScript that
# lies in node_modules.
FROM base AS dependencies
COPY package.json package-lock.json ./
COPY packages/cli/package.json packages/cli/
COPY packages/sdk/package.json packages/sdk/
COPY packages/shared/package.json packages/shared/
COPY packages/testkit/package.json packages/testkit/
COPY services/api/package.json services/api/
COPY services/webhook-worker/package.json services/webhook-worker/
RUN npm ci --omit=dev --no-audit --no-fund --workspace=services/api --workspace=services/webhook-worker

# These manifests are only there because the lock names them.
FROM dependencies AS service-dependencies
RUN rm -r packages/testkit packages/cli packages/sdk

FROM base AS sources
COPY packages packages
COPY services services
# Code that is made for tests or for clients must not reach production.
RUN rm -r packages/testkit packages/cli packages/sdk && find services -type d -name testing -prune -exec rm -r {} +

# The files belong to root and the processes run as `node`: an attacker inside a process cannot change its programs.
FROM base AS runtime
COPY --from=service-dependencies /app ./
COPY --from=sources /app ./
# The user `node` of the base image, by number: Kubernetes can verify runAsNonRoot only of a number.
USER 1000:1000
STOPSIGNAL SIGTERM

# For `make up` only: the demo's receiver, which makes its own certificate authority and registers its webhook.
FROM dependencies AS demo-dependencies
# Three development packages of the root, at the versions of the lock. --save-prod makes npm install them in spite of
# --omit=dev; --no-save leaves the manifests as they are.
RUN npm install --omit=dev --save-prod --no-save --no-audit --no-fund $(node -p "const wanted = require('./package.json').devDependencies; ['@peculiar/x509', 'got', 'reflect-metadata'].map((name) => name + '@' + wanted[name]).join(' ')")

FROM base AS demo-receiver
COPY --from=demo-dependencies /app ./
COPY packages packages
COPY tools tools
# A new volume gets the owner of the folder on which it is mounted.
RUN install --directory --owner=1000 --group=1000 --mode=0755 /var/lib/demo-ca \
 && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/demo-receiver
USER 1000:1000
STOPSIGNAL SIGTERM
EXPOSE 8443
# Any status is healthy: an answer proves that the listener, the certificate and its authority work.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD NODE_EXTRA_CA_CERTS=/var/lib/demo-ca/ca.pem node -e "fetch('https://localhost:8443/').then(() => process.exit(0), () => process.exit(1))"
CMD ["node", "tools/compose/demo-receiver.ts"]

# For `make up` only: the example of an internal service, on the packages of the product.
FROM runtime AS consultations
COPY examples/consultations examples/consultations
EXPOSE 8080
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD node -e "fetch('http://127.0.0.1:8080/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "examples/consultations/main.ts"]

FROM runtime AS webhook-worker
EXPOSE 3002
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD node -e "fetch('http://127.0.0.1:' + (process.env.WORKER_PORT || 3002) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "--max-semi-space-size=16", "services/webhook-worker/src/main.ts"]

FROM runtime AS api
EXPOSE 3000 3001
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD node -e "fetch('http://127.0.0.1:' + (process.env.API_PORT || 3000) + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "--max-semi-space-size=16", "services/api/src/main.ts"]
