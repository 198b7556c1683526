import { ingressNames, inParallel, until } from '@enterprise-api/testkit';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Pool } from 'undici';
import { type IngressStage, openIngressStage } from './stage.ts';

const requestCount = 2_000;

let stage: IngressStage;
afterEach(async () => stage?.[Symbol.asyncDispose]());

describe.each(ingressNames)('%s before two API processes', (name) => {
  it('loses no request while they are replaced by SIGTERM, one after the other', async () => {
    stage = await openIngressStage(name, { apis: 2 });
    const { id } = await stage.client.createOrganization();
    const { secret } = await stage.client.createKey(id);
    await using pool = asyncDisposable(new Pool(`https://127.0.0.1:${stage.front.port}`, poolOptions(stage)));
    const send = createSender(pool.pool, secret);
    const replaced = replaceBoth(stage);
    await inParallel(Array.from({ length: requestCount }).keys(), 16, send.request);
    // The replacement takes as long as it takes: the load goes on until it is over.
    let isReplaced = false;
    void replaced.finally(() => {
      isReplaced = true;
    });
    for (let next = requestCount; !isReplaced; next++) await send.request(next);
    await replaced;
    expect(stage.apis.exits.map(({ code }) => code)).toEqual([0, 0]);
    expect(send.failures).toEqual([]);
    const served = stage.upstream.requests.map(({ path }) => path);
    expect(new Set(served).size).toBe(served.length);
    expect(served).toHaveLength(send.count());
    expect(stage.upstream.problems).toEqual([]);
  });
});

async function replaceBoth({ apis, upstream }: IngressStage): Promise<void> {
  await until('a tenth of the requests is through', () => upstream.requests.length > requestCount / 10);
  await apis.replace(0);
  await apis.replace(1);
}

function poolOptions({ front }: IngressStage): Pool.Options {
  return { connections: 16, connect: { ca: front.ca }, headersTimeout: 20_000, bodyTimeout: 20_000 };
}

/** Sends reads and writes; a write may not be sent twice, so nothing in between may send it again. */
function createSender(pool: Pool, key: string) {
  const failures: string[] = [];
  let sent = 0;
  const request = async (index: number) => {
    sent++;
    const write = index % 2 === 1;
    const path = `/v1/consultations/c${index}`;
    const headers = { authorization: `Bearer ${key}` };
    try {
      const answer = await pool.request({ method: write ? 'POST' : 'GET', path, headers, body: write ? '{}' : null });
      const text = await answer.body.text();
      if (answer.statusCode !== 200) failures.push(`${path}: ${answer.statusCode} ${text}`);
    } catch (error) {
      failures.push(`${path}: ${String(error)}`);
    }
  };
  return { failures, request, count: () => sent };
}

function asyncDisposable(pool: Pool) {
  return { pool, [Symbol.asyncDispose]: () => pool.destroy() };
}
