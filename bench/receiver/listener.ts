import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls';
import type { KeyPairPem } from '@enterprise-api/testkit';

/**
 * Listens on every loopback address, with the certificate of the address that was connected to: in TLS a client that
 * knows an address alone does not say which one it wants.
 */
export async function listen(
  certificates: Readonly<Record<string, KeyPairPem>>,
  onConnection: (socket: TLSSocket) => void,
): Promise<{ port: number }> {
  const contexts = new Map<string, SecureContext>(
    Object.entries(certificates).map(([network, pair]) => [network, createSecureContext(pair)]),
  );
  const server = createServer({ noDelay: true }, (plain) => {
    plain.on('error', () => undefined);
    const address = plain.localAddress ?? '';
    const secureContext = contexts.get(address.slice(0, address.lastIndexOf('.')));
    if (secureContext === undefined) plain.destroy();
    else onConnection(new TLSSocket(plain, { isServer: true, secureContext }));
  });
  await once(server.listen({ port: 0, host: '0.0.0.0', backlog: 4_096 }), 'listening');
  return { port: (server.address() as AddressInfo).port };
}
