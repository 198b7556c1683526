import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from '@enterprise-api/shared/ledger';
import { createJobProducer, type JobName } from '@enterprise-api/shared/queue';
import { toPublicId, version } from '@enterprise-api/shared/runtime';
import { insertOrganization, openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { createEmptyFolder } from './empty-folder.ts';

const manifest = JSON.parse(readFileSync(new URL('../../packages/shared/package.json', import.meta.url), 'utf8'));
const { path: folder, pack, install, node, tsc, remove } = createEmptyFolder();
let db: Database;
let url: string;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
  await sql`create table consultations (id text primary key)`.execute(db);
  const { kysely, pg } = manifest.dependencies;
  await install(await pack('shared'), `kysely@${kysely}`, `pg@${pg}`);
  copyFileSync(new URL('./consumer.ts', import.meta.url), join(folder, 'consumer.ts'));
});

afterAll(async () => {
  await close();
  remove();
});

describe('the package @enterprise-api/shared, installed in an empty folder', () => {
  it('is typed: a strict program compiles against it', async () => {
    const strict = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--verbatimModuleSyntax'];
    const modern = [
      '--module',
      'nodenext',
      '--target',
      'es2024',
      '--lib',
      'es2024,esnext.disposable',
      '--types',
      'node',
    ];
    expect(await tsc('consumer.ts', ...strict, ...modern)).toBe('');
  });

  it('emits events in the transaction of its caller, and whole events through the queue', async () => {
    const organizationId = await insertOrganization(db);
    const output = await node(['consumer.js'], {
      DATABASE_URL: url,
      ORGANIZATION_ID: toPublicId('org', organizationId),
    });
    const told = JSON.parse(output);
    expect(told).toMatchObject({
      version,
      failure: 'Error: rolled back',
      unknown: ['org_01jd6kz5r8e2v9qxm3c7t4b0na'],
      outcomes: ['added 1'],
    });
    expect(told.queued).toMatch(/^evt_[0-9a-z]{26}$/);

    const rows = await sql`select id from consultations`.execute(db);
    expect(rows.rows).toEqual([{ id: 'con_committed' }]);
    const events = await db
      .selectFrom('events')
      .innerJoin('event_bodies', 'event_bodies.event_id', 'events.id')
      .select(['id', 'request_id', 'body'])
      .execute();
    expect(events.map((event) => toPublicId('evt', event.id))).toEqual(told.committed);
    expect(events[0]?.request_id).toBe('req_consumer');
    expect(JSON.parse(events[0]?.body ?? '')).toMatchObject({ data: { consultation_id: 'con_committed' } });
    const outbox = await db.selectFrom('outbox').select(['event_id', 'organization_id']).execute();
    expect(outbox).toEqual([{ event_id: events[0]?.id, organization_id: organizationId }]);
    expect(await waiting('fanOut')).toBe(1);
    expect(await waiting('writeEvent')).toBe(1);
  });

  it('loads from every entry', async () => {
    const entries = Object.keys(manifest.exports).map((entry) => entry.replace('./', '@enterprise-api/shared/'));
    const load = 'const found = await Promise.allSettled(process.argv.slice(1).map((entry) => import(entry)));';
    const tell = 'console.log(JSON.stringify(found.map((each) => each.reason?.code ?? "loaded")));';
    const found: string[] = JSON.parse(await node(['--input-type=module', '--eval', load + tell, ...entries]));
    expect(found).toEqual(entries.map(() => 'loaded'));
  });
});

async function waiting(name: JobName): Promise<number> {
  const queue = createJobProducer({ kind: 'postgres', url }, name, () => undefined);
  try {
    return await queue.waitingCount();
  } finally {
    await queue.close();
  }
}
