import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from '@jest/globals';
import { closeLingering } from './lingering-close.ts';

let server: Server;
let client: Socket;
afterEach(() => {
  client.destroy();
  server.close();
});

/** A client whose server says `bye` and closes; `closed` resolves with what the client has read. */
async function open(withinMs: number): Promise<{ closed: Promise<string> }> {
  server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => undefined).write('bye');
    closeLingering(socket, withinMs);
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
    const { closed } = await open(60_000);
    client.end('the rest of a request');
    expect(await closed).toBe('bye');
  });

  it('ends in time, although the client keeps sending', async () => {
    const { closed } = await open(200);
    sendForEver();
    expect(await closed).toBe('bye');
  });
});
