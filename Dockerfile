# Every image of the product: `docker build --target api .`, `--target webhook-worker`, `--target demo-receiver`.
# Node runs the TypeScript sources as they are: there is nothing to build, only packages to install.

ARG NODE_VERSION=24.21.0

FROM node:${NODE_VERSION}-bookworm-slim AS base
ENV NODE_ENV=production
WORKDIR /app

# The packages that production needs. The workspace links stay links into /app: Node refuses to run TypeScript that
# was copied into node_modules.
FROM base AS dependencies
COPY package.json package-lock.json ./
COPY packages/shared/package.json packages/shared/
COPY packages/testkit/package.json packages/testkit/
COPY services/api/package.json services/api/
COPY services/webhook-worker/package.json services/webhook-worker/
RUN npm ci --omit=dev --no-audit --no-fund

# The test kit's manifest is only there because the lock names it.
FROM dependencies AS service-dependencies
RUN rm -r packages/testkit node_modules/@enterprise-api/testkit

FROM base AS sources
COPY packages packages
COPY services services
# What helps tests must not be able to reach production.
RUN rm -r packages/testkit && find services -type d -name testing -prune -exec rm -r {} +

# The files belong to root, the processes run as `node`: nobody who takes one over can change what the next one runs.
FROM base AS runtime
COPY --from=service-dependencies /app ./
COPY --from=sources /app ./
# By number, so that Kubernetes can verify runAsNonRoot. It is the user `node` of the base image.
USER 1000:1000
STOPSIGNAL SIGTERM

# `make up` only: the demo's receiver, which makes a certificate authority for itself and registers its webhook.
FROM dependencies AS demo-dependencies
# Development packages of the root, wanted here for good: with --save-prod they count as such, --no-save keeps the files.
RUN npm install --omit=dev --save-prod --no-save --no-audit --no-fund $(node -p "const wanted = require('./package.json').devDependencies; ['@peculiar/x509', 'got', 'reflect-metadata'].map((name) => name + '@' + wanted[name]).join(' ')")

FROM base AS demo-receiver
COPY --from=demo-dependencies /app ./
COPY packages packages
COPY tools tools
# A new volume takes over the owner of the folder that it is mounted on.
RUN install --directory --owner=1000 --group=1000 --mode=0755 /var/lib/demo-ca \
 && install --directory --owner=1000 --group=1000 --mode=0700 /var/lib/demo-receiver
USER 1000:1000
STOPSIGNAL SIGTERM
EXPOSE 8443
# Any answer will do: it takes the listener, the certificate and its authority to get one.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD NODE_EXTRA_CA_CERTS=/var/lib/demo-ca/ca.pem node -e "fetch('https://localhost:8443/').then(() => process.exit(0), () => process.exit(1))"
CMD ["node", "tools/compose/demo-receiver.ts"]

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
