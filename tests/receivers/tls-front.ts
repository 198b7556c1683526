import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { createServer, type TLSSocket } from 'node:tls';
import type { KeyPairPem } from '@enterprise-api/testkit';

export interface TlsFront extends AsyncDisposable {
  readonly port: number;
}

/** Ends TLS before a server on 127.0.0.1 that speaks none, and hands every byte on as it is. */
export async function startTlsFront(certificate: KeyPairPem, targetPort: number): Promise<TlsFront> {
  const open = new Set<TLSSocket>();
  const server = createServer(certificate, (client) => {
    open.add(client.once('close', () => open.delete(client)));
    const target = connect({ host: '127.0.0.1', port: targetPort });
    client.pipe(target).pipe(client);
    // Whichever side breaks, or is closed, closes the other.
    client.on('error', () => target.destroy()).on('close', () => target.destroy());
    target.on('error', () => client.destroy()).on('close', () => client.destroy());
  });
  server.on('tlsClientError', () => undefined);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    [Symbol.asyncDispose]: async () => {
      for (const client of open) client.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
