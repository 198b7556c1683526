import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCertificateAuthority, freePorts, type IngressName, startIngress } from '@enterprise-api/testkit';
import { ingressConfiguration, type Places } from './configuration.ts';
import type { Destination } from './raw-exchange.ts';

/** INTERNAL_AUTHORIZE_SECRET, as the ingress sends it. */
export const authorizeSecret = 'a-secret-of-the-ingress-for-tests-only-0123456789';

/** A running ingress. */
export interface Front extends AsyncDisposable, Destination {
  readonly ca: string;
}

/** Starts an ingress with its configuration of `examples/ingress/`. */
export async function startIngressFront(
  name: IngressName,
  behind: Pick<Places, 'api' | 'upstreamPort'>,
): Promise<Front> {
  await using building = new AsyncDisposableStack();
  const folder = await mkdtemp(join(tmpdir(), 'enterprise-api-ingress-'));
  building.defer(() => rm(folder, { recursive: true, force: true }));
  await chmod(folder, 0o711);
  const authority = await createCertificateAuthority();
  const files = await writeFiles(folder, await authority.issue({ hosts: ['127.0.0.1'] }));
  const [port = 0] = await freePorts(1);
  const config = ingressConfiguration(name, { ...behind, ...files, port });
  building.use(await startIngress(name, { config, port, env: { INTERNAL_AUTHORIZE_SECRET: authorizeSecret } }));
  const resources = building.move();
  return { port, ca: authority.certificate, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

async function writeFiles(folder: string, pair: { cert: string; key: string }) {
  const files = {
    certificateFile: join(folder, 'tls.pem'),
    keyFile: join(folder, 'tls.key'),
    nginxAuthorizationFile: join(folder, 'authorization.conf'),
    caddySocket: join(folder, 'caddy.sock'),
  };
  await writeFile(files.certificateFile, pair.cert);
  await writeFile(files.keyFile, pair.key, { mode: 0o600 });
  const line = `proxy_set_header X-Internal-Authorization "Bearer ${authorizeSecret}";\n`;
  await writeFile(files.nginxAuthorizationFile, line, { mode: 0o600 });
  return files;
}
