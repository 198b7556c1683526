import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { projectFolder, spawnGuarded, until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';

describe('the health check', () => {
  const check = (port: number) =>
    new Promise<number | null>((resolve) => {
      const script = join(projectFolder, 'deploy/image/healthy.sh');
      void spawnGuarded('bash', [script, String(port)], { env: { PATH: process.env.PATH } }).then(async (child) =>
        resolve((await child.exited).code),
      );
    });

  it.each([
    ['200', 200, 0],
    ['503', 503, 1],
    ['404', 404, 1],
  ])('of a listener that answers %s', async (_status, status, code) => {
    const server = createServer((_request, response) => response.writeHead(status).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    // An answer that takes longer than 2 s counts as none, and the next check decides.
    await until('the exit code', () => check(port), { holds: (found) => found === code, withinMs: 30_000 });
    await new Promise((resolve) => server.close(resolve));
  });

  it('gives up on a listener that does not answer', async () => {
    const server = createServer(() => undefined);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    expect(await check((server.address() as AddressInfo).port)).toBe(1);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
});
