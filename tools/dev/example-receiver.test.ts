import { createHmac } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { type GuardedProcess, spawnGuarded } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const secret = 'whsec_c2VjcmV0LWZvci10aGUtZXhhbXBsZS1yZWNlaXZlci0=';
const entry = fileURLToPath(new URL('../../examples/receiver/receiver.mjs', import.meta.url));

describe('examples/receiver', () => {
  let receiver: GuardedProcess;
  let url: string;
  const printed = createLineWaiter();

  beforeAll(async () => {
    const env = { WEBHOOK_SECRET: secret, PORT: '0' };
    receiver = await spawnGuarded(process.execPath, [entry], { env, onLine: printed.add });
    const line = await printed.waitFor(/^listening on port \d+$/);
    url = `http://127.0.0.1:${line.split(' ').at(-1)}/`;
  });
  afterAll(() => receiver.stop());

  const body = JSON.stringify({ id: 'evt_1', type: 'batch.completed', timestamp: 'now', data: { batch_id: 'é' } });
  const sign = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex');
  const deliver = async (text: string, signature?: string) => {
    const headers = signature === undefined ? {} : { 'x-service-signature': signature };
    return (await fetch(url, { method: 'POST', body: text, headers })).status;
  };

  it('accepts a signed delivery and handles its event once, however often it comes', async () => {
    expect(await deliver(body, sign(body))).toBe(204);
    expect(await deliver(body, sign(body))).toBe(204);
    const other = body.replace('evt_1', 'evt_2');
    expect(await deliver(other, sign(other))).toBe(204);
    await printed.waitFor(/evt_2/);
    expect(receiver.lines.filter((line) => line.includes('evt_1'))).toHaveLength(1);
  });

  it.each([
    ['no signature', undefined],
    ['another secret', sign(body, 'whsec_other')],
    ['another body', sign(`${body} `)],
    ['half a signature', sign(body).slice(0, 32)],
    ['no hexadecimal', 'signature'],
  ])('refuses a delivery with %s', async (_what, signature) => {
    expect(await deliver(body, signature)).toBe(401);
  });
});

/** Lines as they come, and whoever waits for one. */
function createLineWaiter() {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  return {
    add: (line: string) => {
      lines.push(line);
      for (const look of waiting) look();
    },
    waitFor: (pattern: RegExp) =>
      new Promise<string>((resolve) => {
        const look = () => {
          const found = lines.find((line) => pattern.test(line));
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}
