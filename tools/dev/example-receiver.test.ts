import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { type GuardedProcess, spawnGuarded, until } from '@enterprise-api/testkit';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';

const secret = 'whsec_c2VjcmV0LWZvci10aGUtZXhhbXBsZS1yZWNlaXZlci0=';
const entry = fileURLToPath(new URL('../../examples/receiver/receiver.mjs', import.meta.url));

let folder: string;
let file: string;
let receiver: GuardedProcess;
let url: string;

async function start(): Promise<void> {
  const env = { WEBHOOK_SECRET: secret, PORT: '0', DATABASE_FILE: file };
  receiver = await spawnGuarded(process.execPath, [entry], { env });
  const listening = () => receiver.lines.find((line) => /^listening on port \d+$/.test(line));
  url = `http://127.0.0.1:${(await until('the receiver listens', listening))?.split(' ').at(-1)}/`;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'enterprise-api-receiver-'));
  file = join(folder, 'events.db');
  await start();
});
afterEach(async () => {
  await receiver.stop();
  rmSync(folder, { recursive: true });
});

const eventOf = (id: string) =>
  JSON.stringify({ id, type: 'batch.completed', timestamp: 'now', data: { batch_id: 'é' } });
const body = eventOf('evt_1');
const sign = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex');
const deliver = async (text: string, signature: string | undefined = sign(text)) => {
  const headers = signature === '' ? {} : { 'x-service-signature': signature };
  return (await fetch(url, { method: 'POST', body: text, headers })).status;
};
const handled = (id: string) => receiver.lines.filter((line) => line.startsWith(`batch.completed ${id} `)).length;

describe('examples/receiver', () => {
  it('accepts a signed delivery and handles its event once, however often it is delivered', async () => {
    expect(await deliver(body)).toBe(204);
    expect(await deliver(body)).toBe(204);
    expect(await deliver(eventOf('evt_2'))).toBe(204);
    await until('the last event is handled', () => handled('evt_2') === 1);
    expect(handled('evt_1')).toBe(1);
  });

  it.each([
    ['no signature', ''],
    ['a signature made with another secret', sign(body, 'whsec_other')],
    ['the signature of another body', sign(`${body} `)],
    ['half a signature', sign(body).slice(0, 32)],
    ['more than a signature', `${sign(body)}zz`],
    ['a signature that is not hexadecimal', 'signature'],
  ])('refuses a delivery with %s', async (_what, signature) => {
    expect(await deliver(body, signature)).toBe(401);
  });

  it('answers 5xx while it cannot record the event, and handles the event when it is delivered again', async () => {
    const other = new DatabaseSync(file);
    other.exec('begin immediate');
    expect(await deliver(body)).toBe(500);
    expect(handled('evt_1')).toBe(0);
    other.exec('rollback');
    other.close();
    expect(await deliver(body)).toBe(204);
    await until('the event is handled', () => handled('evt_1') === 1);
  });

  it('has the event on disk when it answers', async () => {
    expect(await deliver(body)).toBe(204);
    const other = new DatabaseSync(file, { readOnly: true, timeout: 5_000 });
    expect(other.prepare('select id, body from events').all()).toEqual([{ id: 'evt_1', body }]);
    other.close();
  });

  it('handles after a restart the events that a killed process had only recorded', async () => {
    await receiver.stop();
    const database = new DatabaseSync(file);
    database.prepare('insert into events (id, body) values (?, ?)').run('evt_1', body);
    database.close();
    await start();
    await until('the recorded event is handled', () => handled('evt_1') === 1);
    expect(await deliver(body)).toBe(204);
    expect(await deliver(eventOf('evt_2'))).toBe(204);
    await until('the next event is handled', () => handled('evt_2') === 1);
    expect(handled('evt_1')).toBe(1);
  });
});
