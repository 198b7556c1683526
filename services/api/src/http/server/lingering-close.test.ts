import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeLingering, type LingerLimits } from './lingering-close.ts';

let server: Server;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.close();
});

/** A client whose server says `bye` and closes; `closed` resolves with what the client has read. */
async function open(limits: LingerLimits): Promise<{ closed: Promise<string> }> {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined).write('bye');
    closeLingering(socket, limits);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  client = connect({ port: (server.address() as AddressInfo).port, allowHalfOpen: true });
  let text = '';
  client.on('data', (chunk) => {
    text += String(chunk);
  });
  client.on('error', () => undefined);
  const closed = new Promise<string>((resolve) => client.once('close', () => resolve(text)));
  await new Promise((resolve) => client.once('end', resolve));
  return { closed };
}

/** Sends for as long as the other side takes it. */
function sendForEver(): void {
  while (!client.destroyed && client.write(Buffer.alloc(65_536)));
  client.once('drain', sendForEver);
}

describe('a lingering close', () => {
  it('ends when the client ends', async () => {
    const { closed } = await open({ ms: 60_000, bytes: Number.MAX_SAFE_INTEGER });
    client.end('the rest of a request');
    expect(await closed).toBe('bye');
  });

  it.each([
    ['time', { ms: 200, bytes: Number.MAX_SAFE_INTEGER }],
    ['bytes', { ms: 60_000, bytes: 1_000_000 }],
  ])('ends after a number of %s, although the client keeps sending', async (_name, limits) => {
    const { closed } = await open(limits);
    sendForEver();
    expect(await closed).toBe('bye');
  });
});
