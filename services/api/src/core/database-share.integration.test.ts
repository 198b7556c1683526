import { createDatabase, type Database } from '@enterprise-api/shared/ledger';
import { fromPublicId } from '@enterprise-api/shared/runtime';
import { readMetric, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { Response } from 'supertest';
import { startTestApi, type TestApi } from '../testing/test-api.ts';
import { connectionsPerOrganization } from './database-share.ts';

let api: TestApi;
let holder: Database;
let key: string;
let webhookId: string;
beforeAll(async () => {
  api = await startTestApi();
  holder = createDatabase({ url: api.database.url, applicationName: 'holder', poolSize: 1 });
});
afterAll(async () => {
  await holder.destroy();
  await api.stop();
});
beforeEach(async () => {
  key = (await api.createKey()).secret;
  webhookId = (await api.createWebhook(key)).id;
});

/** Locks the row of the webhook, so that changes of it hang; after five seconds, PostgreSQL ends each with an error. */
async function holdWebhook(): Promise<{ release: () => Promise<void> } & AsyncDisposable> {
  const trx = await holder.startTransaction().execute();
  await sql`select from webhooks where id = ${fromPublicId('whk', webhookId)} for update`.execute(trx);
  const release = async () => {
    if (!trx.isCommitted && !trx.isRolledBack) await trx.rollback().execute();
  };
  return { release, [Symbol.asyncDispose]: release };
}

async function hangingStatements(): Promise<number> {
  const { rows } = await sql`
    select from pg_stat_activity
    where datname = current_database() and application_name = 'enterprise-api' and wait_event_type = 'Lock'`.execute(
    api.db,
  );
  return rows.length;
}

/** Sends changes of the webhook, and collects their answers as they come. */
function change(count: number): { answers: Response[]; all: Promise<Response[]> } {
  const answers: Response[] = [];
  const send = async (index: number) => {
    const answer = await api.call('patch', `/v1/webhooks/${webhookId}`, key).send({ description: String(index) });
    answers.push(answer);
    return answer;
  };
  return { answers, all: Promise.all(Array.from({ length: count }, (_, index) => send(index))) };
}

const statusesOf = (answers: readonly Response[]) => answers.map(({ status }) => status);

describe('an organization whose statements hang', () => {
  it('uses half of the connections, and then gets 429; nobody else notices', async () => {
    const other = await api.createKey();
    await using held = await holdWebhook();
    const tooMany = 12;
    const changes = change(tooMany);
    await until('its share is used up', async () => (await hangingStatements()) === connectionsPerOrganization);

    await api.call('get', '/v1/me', other.secret).expect(200);
    const webhook = await api.createWebhook(other.secret);
    await api.call('get', `/v1/webhooks/${webhook.id}`, other.secret).expect(200);
    await api.internal('get', '/internal/v1/organizations').expect(200);
    // What needs no database is answered to the organization itself, too.
    await api.call('get', '/v1/me', key).expect(200);

    const refused = tooMany - connectionsPerOrganization;
    await until('the others are answered', () => changes.answers.length >= refused);
    for (const { body, headers } of changes.answers.slice(0, refused)) {
      expect([body.error.code, headers['retry-after'], body.error.retry_after]).toEqual(['rate_limited', '1', 1]);
    }
    await held.release();
    // A lock that was held for five seconds on a slow machine: 503.
    const rest = statusesOf(await changes.all).filter((status) => status !== 429);
    expect(rest.every((status) => status === 200 || status === 503)).toBe(true);
    expect(rest).toHaveLength(connectionsPerOrganization);
    await api.call('get', '/v1/webhooks', key).expect(200);
  });

  it.each([
    ['a read', () => api.call('get', `/v1/webhooks/${webhookId}`, key)],
    ['a POST', () => api.call('post', `/v1/webhooks/${webhookId}/test`, key)],
    [
      'a POST with an Idempotency-Key',
      () => api.call('post', `/v1/webhooks/${webhookId}/test`, key).set('Idempotency-Key', 'a'),
    ],
    ['a usage query', () => api.call('get', '/v1/usage', key)],
  ])('gets 429 for %s as well', async (_what, call) => {
    await using held = await holdWebhook();
    const changes = change(connectionsPerOrganization);
    await until('its share is used up', async () => (await hangingStatements()) === connectionsPerOrganization);
    const refusals = await readMetric(api.internalUrl, 'api_database_share_waits_total', 'refused');
    const answer = await call();
    expect([answer.status, answer.body.error?.code]).toEqual([429, 'rate_limited']);
    expect(await readMetric(api.internalUrl, 'api_database_share_waits_total', 'refused')).toBe(refusals + 1);
    await held.release();
    await changes.all;
  });
});
