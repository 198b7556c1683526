import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { createSelfSigned, spawnGuarded, startReceiver } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';

/** Runs a service whose start is this text, and says how its process ended and what it logged. */
async function runService(start: string) {
  const lifecycle = new URL('./lifecycle.ts', import.meta.url).href;
  const logger = new URL('./logger.ts', import.meta.url).href;
  const program = `
    import { runService } from '${lifecycle}';
    import { createLogger } from '${logger}';
    // Like the sockets of a real service.
    setInterval(() => undefined, 60_000);
    const log = createLogger('test', 'info');
    await runService(log, 2_000, async (giveUp) => { ${start} });`;
  const service = await spawnGuarded(process.execPath, ['--input-type=module', '-e', program], { env: {} });
  const { code } = await service.exited;
  const messages = service.lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line).msg as string);
  return { code, messages };
}

const stop = "stop: async () => log.info('drained')";
/** A TLS alert that is not encrypted although the handshake is over. */
const brokenRecord = Buffer.from('15030300020232', 'hex');

describe('a service', () => {
  it('stops as at SIGTERM when it gives up, and exits 1', async () => {
    const { code, messages } = await runService(
      `setTimeout(() => giveUp(new Error('stalled')), 1); return { ${stop} };`,
    );
    expect(code).toBe(1);
    expect(messages).toEqual(['giving up', 'stopping', 'drained', 'stopped']);
  });

  it('exits 0 after SIGTERM', async () => {
    const { code, messages } = await runService(`setTimeout(() => process.kill(process.pid), 1); return { ${stop} };`);
    expect(code).toBe(0);
    expect(messages).toEqual(['stopping', 'drained', 'stopped']);
  });

  it('exits 70 at once after an uncaught exception', async () => {
    const { code, messages } = await runService(
      `setTimeout(() => { throw new Error('bug'); }, 1); return { ${stop} };`,
    );
    expect([code, messages]).toEqual([70, ['crashed']]);
  });

  it('goes on when a Redis whose certificate is refused sends a broken record behind it', async () => {
    const secure = await startReceiver({ certificate: await createSelfSigned({ hosts: ['127.0.0.1'] }) });
    const breaking = createServer((client) => {
      const upstream = connect(secure.port, '127.0.0.1').on('error', () => undefined);
      client.on('error', () => undefined).on('close', () => upstream.destroy());
      client.pipe(upstream).once('data', (flight) => client.write(Buffer.concat([flight, brokenRecord])));
    });
    await once(breaking.listen(0, '127.0.0.1'), 'listening');
    const { port } = breaking.address() as AddressInfo;
    const { code, messages } = await runService(`
      const { Redis } = await import('ioredis');
      const redis = new Redis(${port}, '127.0.0.1', { tls: {}, retryStrategy: () => null });
      redis.on('error', ({ code }) => log.info(code)).on('end', () => process.kill(process.pid));
      return { ${stop} };`);
    breaking.close();
    await secure.close();
    const refused = ['DEPTH_ZERO_SELF_SIGNED_CERT', 'another error of a failed TLS connection'];
    expect([code, messages]).toEqual([0, [...refused, 'stopping', 'drained', 'stopped']]);
  });
});
