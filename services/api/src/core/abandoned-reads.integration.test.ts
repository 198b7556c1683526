import { createDatabase, type Database, poolFiguresOf } from '@enterprise-api/shared/ledger';
import { createLogger } from '@enterprise-api/shared/runtime';
import { createTestDatabase, type TestDatabase, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import express, { type Express } from 'express';
import { sql } from 'kysely';
import request from 'supertest';
import { defineRoute } from '../http/routing/define-route.ts';
import { createRouteTable } from '../http/routing/route-table.ts';
import { serveRoutes } from '../http/routing/serve-routes.ts';
import { createErrorHandler } from '../http/server/error-handler.ts';
import { attachTestContext } from '../testing/attach-test-context.ts';
import { undescribed } from '../testing/undescribed.ts';
import { createDatabaseHealth, currentSignal } from './database-health.ts';

const notCalled = () => {
  throw new Error('not to be called');
};
const log = createLogger('test', 'silent');

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createTestDatabase();
  db = createDatabase({ url: database.url, applicationName: 'test', poolSize: 1, signal: currentSignal });
  await sql`create sequence reads`.execute(db);
});
afterAll(async () => {
  await db.destroy();
  await database.drop();
});

/** One route, whose handler reads; the probe of the database never answers. */
function createApp(): Express {
  const read = defineRoute({
    ...undescribed,
    endpoint: 'GET /internal/v1/reads',
    scope: null,
    handle: async () => void (await sql`select nextval('reads')`.execute(db)),
  });
  return express()
    .use(attachTestContext('internal'))
    .use(
      serveRoutes<object>({
        table: createRouteTable<object>([read]),
        guard: () => ({}),
        body: { maxBytes: 0, maxDepth: 0, maxKeys: 0 },
        actorOf: notCalled,
        readsActor: false,
        ownerOf: notCalled,
        transactAs: notCalled,
        runOnce: notCalled,
        withDatabaseCheck: createDatabaseHealth(() => new Promise(() => undefined)).withDatabaseCheck,
        checkResponses: true,
      }),
    )
    .use(createErrorHandler(log));
}

it('a read that waits for a connection never begins after its 503', async () => {
  const holder = await db.startTransaction().execute();
  await request(createApp()).get('/internal/v1/reads').expect(503);
  expect(poolFiguresOf(db)).toMatchObject({ used: 1, waiting: 1 });
  await holder.rollback().execute();
  await until('nothing waits for the connection', () => {
    const { used, waiting } = poolFiguresOf(db);
    return used === 0 && waiting === 0;
  });
  const { rows } = await sql`select is_called from reads`.execute(db);
  expect(rows).toEqual([{ is_called: false }]);
});
