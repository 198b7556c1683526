import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { choosePorts } from './ports.ts';

describe('choosePorts', () => {
  let holder: Server;
  let busy: number;
  const said: string[] = [];
  const choose = (...requests: { given?: number; usual: number }[]) =>
    choosePorts(
      requests.map(({ given, usual }) => ({ name: 'SOME_PORT', host: '127.0.0.1', given, usual })),
      (line) => said.push(line),
    );

  beforeAll(async () => {
    holder = createServer();
    await once(holder.listen(0, '127.0.0.1'), 'listening');
    busy = (holder.address() as AddressInfo).port;
  });
  afterAll(() => new Promise((resolve) => holder.close(resolve)));

  it('replaces a usual port that is in use, and says so', async () => {
    const [port] = await choose({ usual: busy });
    expect(port).not.toBe(busy);
    expect(said).toEqual([`Port ${busy} is in use: using ${port} (SOME_PORT).`]);
  });

  it('refuses a given port that is in use', async () => {
    await expect(choose({ given: busy, usual: 3000 })).rejects.toThrow(`Port ${busy} is in use: set SOME_PORT`);
  });

  it('never gives one listener the port that was given for another', async () => {
    const [given] = await choose({ given: 0, usual: 3000 });
    const [first, second] = await choose({ usual: given ?? 0 }, { given: given ?? 0, usual: 3000 });
    expect(second).toBe(given);
    expect(first).not.toBe(given);
  });
});
