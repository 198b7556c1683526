import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, projectFolder, type RedisServer, spawnGuarded, startRedis } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { requireRedis } from './redis.ts';

describe('requireRedis', () => {
  let redis: RedisServer;
  let host: string;
  beforeAll(async () => {
    redis = await startRedis({ settings: { requirepass: 'right' } });
    host = `127.0.0.1:${redis.port}`;
  });
  afterAll(() => redis.close());

  it('passes when Redis answers a command', async () => {
    await expect(requireRedis(`redis://:right@${host}`)).resolves.toBeUndefined();
  });

  it('names the refusal of a wrong password, without the password', async () => {
    const refused = requireRedis(`redis://:wrong@${host}`);
    await expect(refused).rejects.toThrow(`Redis at ${host} refuses the password in REDIS_URL (WRONGPASS).`);
  });

  it('says when Redis demands a password and the URL has none', async () => {
    const refused = requireRedis(`redis://${host}`);
    await expect(refused).rejects.toThrow(`Redis at ${host} demands a password, and REDIS_URL has none (NOAUTH).`);
  });

  it('says why a Redis that does not listen does not answer', async () => {
    const unused = `127.0.0.1:${await freePort()}`;
    const refused = requireRedis(`redis://${unused}`);
    await expect(refused).rejects.toThrow(`Redis at ${unused} (REDIS_URL) does not answer: connect ECONNREFUSED`);
  });

  it('ends `make demo` with that sentence before anything else is started', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'enterprise-api-demo-'));
    const env = { PATH: process.env.PATH, LOCAL_DATA_DIR: folder, REDIS_URL: `redis://:wrong@${host}` };
    const demo = await spawnGuarded(process.execPath, ['tools/dev/main.ts', '--demo'], { cwd: projectFolder, env });
    expect((await demo.exited).code).toBe(1);
    const shown = demo.lines.filter((line) => line !== '');
    expect(shown).toEqual([
      'Starting',
      `✗ Redis at ${host} refuses the password in REDIS_URL (WRONGPASS).`,
      '✓ Everything is stopped; the data are kept.',
    ]);
    rmSync(folder, { recursive: true });
  });
});
