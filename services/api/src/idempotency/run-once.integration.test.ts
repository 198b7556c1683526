import { randomBytes } from 'node:crypto';
import type { Change, Database } from '@enterprise-api/shared/ledger';
import { createLogger, newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import type { KeyRing } from '@enterprise-api/shared/security';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import request from 'supertest';
import { z } from 'zod';
import { createTransact, type Transact } from '../core/unit-of-work.ts';
import { type Problem, problem } from '../http/problem.ts';
import { defineRoute } from '../http/routing/define-route.ts';
import { createRouteTable } from '../http/routing/route-table.ts';
import { serveRoutes } from '../http/routing/serve-routes.ts';
import { createErrorHandler } from '../http/server/error-handler.ts';
import { reencrypt } from '../reencrypt/reencrypt.ts';
import { attachTestContext } from '../testing/attach-test-context.ts';
import { undescribed } from '../testing/undescribed.ts';
import { createRunOnce } from './run-once.ts';

// What is true of every POST, shown with routes that do what no real one does: write first and refuse then.

interface Access {
  organizationId: string;
}

const log = createLogger('test', 'fatal');
const noteSchema = z.strictObject({ name: z.string() });
const bodySchema = noteSchema.extend({ headers: z.record(z.string(), z.string()).optional() });
const access: Access = { organizationId: newUuid() };

let db: Database;
let close: () => Promise<void>;
let app: Express;
let notified: Change[] = [];
let runs = 0;
/** Whether the object in the path exists. */
let isThere = true;
/** What the handler comes to after it has written. */
let ending: () => Problem | { name: string } = () => ({ name: 'done' });

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
  app = createApp(db);
});
afterAll(() => close());
beforeEach(async () => {
  runs = 0;
  isThere = true;
  notified = [];
  ending = () => ({ name: 'done' });
  await db.deleteFrom('organizations').execute();
  await db.deleteFrom('audit_log').execute();
});

/** Writes a row, says so, and ends as the test wants. */
function write(transact: Transact): Promise<Problem | { name: string }> {
  runs++;
  return transact(async ({ trx, changed }) => {
    const id = newUuid();
    await trx.insertInto('organizations').values({ id, name: 'effect', plan: 'pro' }).execute();
    await changed({ action: 'organization.created', objectId: id, organizationId: id, changedFields: [], changes: {} });
    return ending();
  });
}

const newKey = (id: string) => ({ id, key: randomBytes(32) });

function createApp(database: Database, ring: KeyRing = [newKey('test')]): Express {
  const routes = [
    defineRoute({
      endpoint: 'POST /v1/notes',
      ...undescribed,
      scope: 'webhooks:write',
      body: bodySchema,
      success: 'created',
      response: noteSchema,
      handle: ({ transact }: { access: Access; transact: Transact }) => write(transact),
    }),
    defineRoute({
      endpoint: 'POST /v1/notes/{id}/ring',
      ...undescribed,
      scope: 'webhooks:write',
      ids: { id: 'whk' },
      exists: async () => isThere,
      body: z.strictObject({ times: z.number().optional() }).optional(),
      handle: async ({ transact }: { transact: Transact }) => {
        const outcome = await write(transact);
        return 'problem' in outcome ? outcome : undefined;
      },
    }),
  ];
  const notify = async (change: Change) => void notified.push(change);
  const made = express();
  made.use(attachTestContext('public'));
  made.use(
    serveRoutes<Access>({
      table: createRouteTable<Access>(routes),
      guard: () => access,
      body: { maxBytes: 1_000, maxDepth: 20, maxKeys: 100 },
      actorOf: () => 'test',
      transactAs: createTransact({ db: database, log, notify, onEmitted: () => undefined }),
      readsActor: false,
      ownerOf: ({ organizationId }) => organizationId,
      runOnce: createRunOnce(ring),
      withDatabaseCheck: (work) => work,
      checkResponses: true,
    }),
  );
  made.use(createErrorHandler(log));
  return made;
}

const send = (key: string, path = '/v1/notes', body: object | undefined = { name: 'x' }) =>
  request(app).post(path).set('Idempotency-Key', key).send(body);
const ringPath = () => `/v1/notes/${toPublicId('whk', newUuid())}/ring`;

async function effects(): Promise<number[]> {
  const organizations = await db.selectFrom('organizations').select('id').execute();
  const entries = await db.selectFrom('audit_log').select('id').execute();
  return [organizations.length, entries.length, notified.length];
}

describe('a success', () => {
  it('whose encryption key is gone is neither replayed nor run again', async () => {
    await send('sealed').expect(201);
    const withAnotherRing = createApp(db);
    const again = await request(withAnotherRing).post('/v1/notes').set('Idempotency-Key', 'sealed').send({ name: 'x' });
    expect([again.status, again.body.error.code, again.headers['retry-after']]).toEqual([
      503,
      'service_unavailable',
      '1',
    ]);
    expect(await effects()).toEqual([1, 1, 1]);
  });

  it('of a request with headers is replayed after a rotation; without the key nobody can test a guess', async () => {
    const body = { name: 'x', headers: { authorization: 'Basic short' } };
    const [key, other] = [newKey('old'), newKey('new')];
    const post = (ring: KeyRing, sent: object) =>
      request(createApp(db, ring)).post('/v1/notes').set('Idempotency-Key', 'with-headers').send(sent);
    await db.deleteFrom('idempotency_keys').execute();
    const first = await post([key], body).expect(201);
    const { fingerprint } = await db.selectFrom('idempotency_keys').select('fingerprint').executeTakeFirstOrThrow();
    const different = { ...body, headers: { authorization: 'Basic other' } };
    for (const ring of [[key], [other, key]] as const) {
      const again = await post(ring, body).expect(201);
      expect([again.headers['idempotent-replayed'], again.text]).toEqual(['true', first.text]);
      await post(ring, different).expect(422);
    }
    for (const sent of [body, different]) await post([other], sent).expect(503);
    for (const sent of [{ name: 'y' }, { name: 'x' }, { ...body, name: 'y' }]) await post([other], sent).expect(422);
    await reencrypt(db, [other, key]);
    expect((await post([other], body).expect(201)).text).toBe(first.text);
    await post([other], different).expect(422);
    expect(await effects()).toEqual([1, 1, 1]);
    await db.deleteFrom('idempotency_keys').execute();
    await post([other], different).expect(201);
    const guessed = await db.selectFrom('idempotency_keys').select('fingerprint').executeTakeFirstOrThrow();
    expect(guessed.fingerprint.equals(fingerprint)).toBe(true);
  });

  it('of a route without an answer is kept too', async () => {
    const path = ringPath();
    await send('empty', path, {}).expect(204, '');
    const again = await send('empty', path, {}).expect(204, '');
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect([runs, await effects()]).toEqual([1, [1, 1, 1]]);
  });

  it('belongs to its path', async () => {
    const [one, other] = [ringPath(), ringPath()];
    await send('path', one, {}).expect(204);
    expect((await send('path', other, {}).expect(204)).headers).not.toHaveProperty('idempotent-replayed');
    await send('path').expect(201);
    expect(runs).toBe(3);
  });

  it('without a body is another request than with an empty object', async () => {
    const path = ringPath();
    const without = () => request(app).post(path).set('Idempotency-Key', 'none');
    await without().expect(204);
    expect((await without().expect(204)).headers['idempotent-replayed']).toBe('true');
    await send('none', path, {}).expect(422);
  });
});

describe.each([
  ['not_found', 404],
  ['conflict', 409],
] as const)('the problem %s', (code, status) => {
  it('is stored, and the writes before it are rolled back', async () => {
    ending = () => problem(code);
    const first = await send(code).expect(status);
    expect(await effects()).toEqual([0, 0, 0]);
    ending = () => ({ name: 'done' });
    const again = await send(code).expect(status);
    expect(again.headers['idempotent-replayed']).toBe('true');
    expect(again.text).toBe(first.text);
    expect(runs).toBe(1);
  });
});

describe.each([
  'limit_reached',
  'validation_failed',
  'url_not_allowed',
  'rate_limited',
  'service_unavailable',
] as const)('the problem %s', (code) => {
  it('is not stored, and the writes before it are rolled back', async () => {
    ending = () => problem(code);
    await send(code);
    expect(await effects()).toEqual([0, 0, 0]);
    ending = () => ({ name: 'done' });
    expect((await send(code).expect(201)).headers).not.toHaveProperty('idempotent-replayed');
    expect(await effects()).toEqual([1, 1, 1]);
  });
});

it('an exception leaves nothing behind, and the next try is a new one', async () => {
  ending = () => {
    throw new Error('broken');
  };
  await send('thrown').expect(500);
  expect(await effects()).toEqual([0, 0, 0]);
  ending = () => ({ name: 'done' });
  await send('thrown').expect(201);
  expect(await effects()).toEqual([1, 1, 1]);
});

it('without a key a problem rolls back the writes, too', async () => {
  ending = () => problem('conflict');
  await request(app).post('/v1/notes').send({ name: 'x' }).expect(409);
  expect(await effects()).toEqual([0, 0, 0]);
});

describe('another body', () => {
  it('422, and nothing is done', async () => {
    await send('body').expect(201);
    await send('body', '/v1/notes', { name: 'y' }).expect(422);
    expect([runs, await effects()]).toEqual([1, [1, 1, 1]]);
  });

  it('404 before 422 when the object does not exist; else 422; the handler does not run', async () => {
    const path = ringPath();
    await send('object', path, {}).expect(204);
    const answer = await send('object', path, { times: 2 }).expect(422);
    expect(answer.body.error.code).toBe('idempotency_key_reused');
    isThere = false;
    await send('object', path, { times: 2 }).expect(404);
    expect(runs).toBe(1);
    expect(await effects()).toEqual([1, 1, 1]);
    const replayed = await send('object', path, {}).expect(204);
    expect(replayed.headers['idempotent-replayed']).toBe('true');
  });
});

it('the 404 of a malformed id is stored like any other', async () => {
  const first = await send('malformed', '/v1/notes/whk_1/ring', {}).expect(404);
  const again = await send('malformed', '/v1/notes/whk_1/ring', {}).expect(404);
  expect(again.headers['idempotent-replayed']).toBe('true');
  expect(again.text).toBe(first.text);
  expect(runs).toBe(0);
});

it('a key works with a path of any length', async () => {
  const path = `/v1/notes/${randomBytes(3_000).toString('hex')}/ring`;
  await send('long', path, {}).expect(404);
  expect((await send('long', path, {}).expect(404)).headers['idempotent-replayed']).toBe('true');
});
