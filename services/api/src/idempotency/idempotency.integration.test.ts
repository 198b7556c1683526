import type { AuditEntry } from '@enterprise-api/shared/contracts';
import { createDatabase } from '@enterprise-api/shared/ledger';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { type TestApi, withCustomer } from '../testing/test-api.ts';

let api: TestApi;
let key: string;
let organizationId: string;
withCustomer((customer) => {
  ({ api, key, organizationId } = customer);
});

const good = { url: 'https://hooks.example.com/in', events: ['batch.*'], description: 'one' };

const post = (idempotencyKey: string, body: object = good, apiKey = key) =>
  api.call('post', '/v1/webhooks', apiKey).set('Idempotency-Key', idempotencyKey).send(body);

const postText = (idempotencyKey: string) =>
  api.call('post', '/v1/webhooks', key).set('Idempotency-Key', idempotencyKey).type('text/plain').send('hello');

async function count(table: 'webhooks' | 'idempotency_keys' | 'audit_log'): Promise<number> {
  const all = api.db.selectFrom(table).select('organization_id');
  const rows = await all.where('organization_id', '=', fromPublicId('org', organizationId) as string).execute();
  return rows.length;
}

/** Webhooks, stored answers, and entries in the audit log: all three or none. */
async function traces(): Promise<number[]> {
  const entries = await api.internal('get', `/internal/v1/audit?organization_id=${organizationId}`).expect(200);
  const ofWebhooks = entries.body.data.filter((entry: AuditEntry) => entry.object_type === 'webhook');
  return [await count('webhooks'), await count('idempotency_keys'), ofWebhooks.length];
}

/** Holds the row that creating a webhook needs, so that a request with it stops in its middle. */
async function holdOrganization(): Promise<{ release: () => Promise<void>; waiting: () => Promise<boolean> }> {
  const other = createDatabase({ url: api.database.url, applicationName: 'holder', poolSize: 1 });
  const trx = await other.startTransaction().execute();
  await sql`select from organizations where id = ${fromPublicId('org', organizationId)} for update`.execute(trx);
  return {
    release: async () => {
      await trx.rollback().execute();
      await other.destroy();
    },
    waiting: async () => {
      const { rows: found } = await sql`
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock'`.execute(api.db);
      return found.length > 0;
    },
  };
}

describe('the same key and body again', () => {
  it('gets the same answer, secret and Location and ETag included, and has no second effect', async () => {
    const first = await post('again').expect(201);
    expect(first.headers).not.toHaveProperty('idempotent-replayed');
    const second = await post('again').expect(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(second.text).toBe(first.text);
    expect(second.body.secret).toMatch(/^whsec_/);
    for (const name of ['location', 'etag', 'content-type', 'content-length']) {
      expect(second.headers[name]).toBe(first.headers[name]);
      expect(second.headers[name]).toBeDefined();
    }
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(second.headers).toMatchObject({ ratelimit: expect.any(String), 'cache-control': 'no-store' });
    expect(await traces()).toEqual([1, 1, 1]);
  });

  it('does so for any order and JSON escaping of the fields', async () => {
    const first = await post('order').expect(201);
    const text = `{ "events": ["batch.*"], "description": "\\u006fne", "url": "${good.url}" }`;
    const second = await api
      .call('post', '/v1/webhooks', key)
      .set({ 'Idempotency-Key': 'order', 'Content-Type': 'application/json' })
      .send(text)
      .expect(201);
    expect(second.text).toBe(first.text);
  });

  it('does so for another API key of the organization, and not for another organization', async () => {
    const first = await post('whose').expect(201);
    const colleague = await api.createKey({ organizationId });
    expect((await post('whose', good, colleague.secret).expect(201)).text).toBe(first.text);
    const stranger = await api.createKey();
    const other = await post('whose', good, stranger.secret).expect(201);
    expect(other.body.id).not.toBe(first.body.id);
    expect(other.headers).not.toHaveProperty('idempotent-replayed');
  });

  it('replays the first answer even if the object was changed or deleted since', async () => {
    const first = await post('gone').expect(201);
    await api.call('delete', `/v1/webhooks/${first.body.id}`, key).expect(204);
    expect((await post('gone').expect(201)).text).toBe(first.text);
  });

  it('does not replay 409 limit_reached: the same try succeeds once there is room', async () => {
    const webhooks = [];
    for (let count = 0; count < 100; count++) webhooks.push(await api.createWebhook(key));
    const first = await post('full').expect(409);
    expect(first.body.error.code).toBe('limit_reached');
    await api.call('delete', `/v1/webhooks/${webhooks[0]?.id}`, key).expect(204);
    expect((await post('full').expect(201)).headers).not.toHaveProperty('idempotent-replayed');
  });

  it('is a new request after 24 hours', async () => {
    const first = await post('old').expect(201);
    const age = (interval: string) =>
      sql`update idempotency_keys set created_at = now() - ${interval}::interval`.execute(api.db);
    await age('23 hours 59 minutes');
    expect((await post('old').expect(201)).text).toBe(first.text);
    await age('24 hours 1 minute');
    const second = await post('old', { ...good, description: 'two' }).expect(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect((await post('old', { ...good, description: 'two' }).expect(201)).text).toBe(second.text);
    expect(await traces()).toEqual([2, 1, 2]);
  });
});

describe('the same key', () => {
  it('422 with another body', async () => {
    await post('reused').expect(201);
    const answer = await post('reused', { ...good, description: 'two' }).expect(422);
    expect(answer.body.error).toMatchObject({ type: 'invalid_request_error', code: 'idempotency_key_reused' });
    expect(await traces()).toEqual([1, 1, 1]);
  });

  it('409 while it is still running, and its answer afterwards', async () => {
    const held = await holdOrganization();
    const running = post('running').expect(201);
    const answered = running.then((answer) => answer);
    await until('the request waits for the lock', held.waiting);
    const meanwhile = await post('running').expect(409);
    expect(meanwhile.body.error.code).toBe('idempotency_in_progress');
    await held.release();
    const first = await answered;
    expect((await post('running').expect(201)).text).toBe(first.text);
    expect(await traces()).toEqual([1, 1, 1]);
  });

  it('has one effect, however many come at once', async () => {
    const answers = await Promise.all(Array.from({ length: 12 }, () => post('crowd')));
    const made = answers.filter((answer) => answer.status === 201);
    const fresh = made.filter((answer) => answer.headers['idempotent-replayed'] === undefined);
    expect(fresh).toHaveLength(1);
    for (const answer of made) expect(answer.text).toBe(fresh[0]?.text);
    for (const answer of answers.filter((each) => each.status !== 201)) {
      expect([answer.status, answer.body.error.code]).toEqual([409, 'idempotency_in_progress']);
    }
    expect(await traces()).toEqual([1, 1, 1]);
  });

  it('is answered to a client that hung up before the first answer came', async () => {
    const held = await holdOrganization();
    const first = post('hung-up');
    first.end(() => undefined);
    await until('the request waits for the lock', held.waiting);
    first.abort();
    await held.release();
    await until('the webhook exists', async () => (await traces())[0] === 1);
    const second = await post('hung-up').expect(201);
    expect(second.headers['idempotent-replayed']).toBe('true');
    expect(await traces()).toEqual([1, 1, 1]);
  });
});

describe('answers that are not kept', () => {
  it('400: the key can be used again', async () => {
    for (const body of [
      { ...good, events: [] },
      { ...good, url: 'https://10.0.0.1' },
    ])
      await post('bad', body).expect(400);
    expect(await count('idempotency_keys')).toBe(0);
    expect((await post('bad').expect(201)).headers).not.toHaveProperty('idempotent-replayed');
  });

  it('401, 403, 413 and 415', async () => {
    const { secret } = await api.createKey({ organizationId, scopes: ['webhooks:read'] });
    await post('refused', good, secret).expect(403);
    await post('refused', good, 'nwk_unknown').expect(401);
    await post('refused', { ...good, description: 'x'.repeat(65_536) }).expect(413);
    await postText('refused').expect(415);
    await post('refused').expect(201);
    expect(await traces()).toEqual([1, 1, 1]);
  });
});

describe('a failure between the effect and its answer', () => {
  const triggers = {
    'when the answer is written': 'create trigger fail after insert on idempotency_keys for each row',
    'at the commit':
      'create constraint trigger fail after insert on idempotency_keys deferrable initially deferred for each row',
  };
  const failures = {
    'an error': { statement: `raise exception 'broken'`, status: 500 },
    'the end of the connection': { statement: 'perform pg_terminate_backend(pg_backend_pid())', status: 503 },
  };
  const cases = Object.entries(triggers).flatMap(([when, trigger]) =>
    Object.entries(failures).map(([what, failure]) => ({ when, what, trigger, ...failure })),
  );

  it.each(cases)('$what $when: neither is there, and the next try succeeds', async (each) => {
    const logged = api.logLines.length;
    await sql
      .raw(`create function fail() returns trigger language plpgsql as $$ begin ${each.statement}; return new; end $$`)
      .execute(api.db);
    await sql.raw(`${each.trigger} execute function fail()`).execute(api.db);
    const idempotencyKey = newUuid();
    await post(idempotencyKey).expect(each.status);
    await sql`drop function fail cascade`.execute(api.db);
    expect(await traces()).toEqual([0, 0, 0]);
    expect(api.logLines.slice(logged).some((line) => line.includes('"audit"'))).toBe(false);
    const second = await post(idempotencyKey).expect(201);
    expect(second.headers).not.toHaveProperty('idempotent-replayed');
    expect(await traces()).toEqual([1, 1, 1]);
  });
});

it('a stored answer is unreadable in the table, and opens only as the row that it was sealed for', async () => {
  const first = await post('a-key-of-ours').expect(201);
  const other = await post('other', { ...good, description: 'two' }).expect(201);
  const stored = JSON.stringify(await api.db.selectFrom('idempotency_keys').selectAll().execute());
  const texts = [first.body.secret, other.body.secret, 'hooks.example.com', 'a-key-of-ours'];
  expect(texts.filter((text) => stored.includes(text))).toEqual([]);
  await sql`
    update idempotency_keys a set body_sealed = b.body_sealed from idempotency_keys b
    where a.organization_id = ${fromPublicId('org', organizationId)} and b.organization_id = a.organization_id
      and a.id <> b.id`.execute(api.db);
  const answer = await post('a-key-of-ours').expect(503);
  expect(answer.text).not.toContain('whsec_');
});
