import type { Database } from '@enterprise-api/shared/ledger';
import {
  insertOrganization,
  insertWebhook,
  openTestDatabase,
  projectFolder,
  spawnGuarded,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { countRows, deliverAll, insertOldEvents, monthBefore } from '../testing/old-months.ts';
import { withRetentionLock } from './loop.ts';

let db: Database;
let url: string;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, url, close } = await openTestDatabase());
});
afterAll(() => close());

/** The command, with the default periods. */
async function retention(args: string[], settings: Record<string, string> = {}) {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const env = { PATH, NODE_COMPILE_CACHE, DATABASE_URL: url, ...settings };
  const command = await spawnGuarded(process.execPath, ['services/webhook-worker/src/retention-main.ts', ...args], {
    cwd: projectFolder,
    env,
  });
  const { code } = await command.exited;
  return { code, text: command.lines.join('\n') };
}

it('make retention prints its plan, removes expired data, and names the next removal', async () => {
  const organizationId = await insertOrganization(db);
  await insertWebhook(db, { organizationId });
  const [history, young] = [
    await insertOldEvents(db, organizationId, await monthBefore(db, 6), 1),
    await insertOldEvents(db, organizationId, await monthBefore(db, 0), 1),
  ];
  for (const { leases } of [history, young]) await deliverAll(db, leases);
  await monthBefore(db, 3);

  const plan = await retention(['--dry-run']);
  expect(plan).toMatchObject({ code: 0, text: expect.stringContaining('would be removed now: events_') });
  for (const name of ['events', 'event_subjects', 'fan_outs', 'deliveries', 'attempts', 'event_bodies']) {
    expect(plan.text).toMatch(new RegExp(`^${name}: would be removed now: [^\\n]*\\n  next: \\w+, from 20..-`, 'm'));
  }
  expect(await countRows(db, history.eventIds)).toMatchObject({ events: 1, deliveries: 1 });

  const done = await retention([]);
  expect(done).toMatchObject({ code: 0, text: expect.stringContaining('Done.') });
  expect(done.text).toMatch(
    /^Kept: RETENTION_BODIES \d+h.*, RETENTION_HISTORY \d+h.*, RETENTION_AUDIT 9600h \(default\)\./m,
  );
  expect(await countRows(db, history.eventIds)).toMatchObject({ events: 0, deliveries: 0, keys: 0 });
  expect(await countRows(db, young.eventIds)).toMatchObject({ events: 1, bodies: 1, deliveries: 1, keys: 1 });
  const after = await retention(['--dry-run']);
  expect(after.text).toMatch(/^deliveries: nothing would be removed now$/m);
});

it('make retention exits with 1 while another process has the lock, and without a database', async () => {
  const beside = await withRetentionLock(url, () => retention([]));
  expect(beside).toMatchObject({ code: 1, text: expect.stringContaining('Another process') });
  const without = await retention([], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' });
  expect(without).toMatchObject({ code: 1, text: expect.stringContaining('Run the command again') });
  expect(await retention(['--dry'])).toMatchObject({ code: 1, text: expect.stringContaining('Unknown option: --dry') });
});

it('make retention exits with 78 where bodies would be kept for longer than the history', async () => {
  const refused = await retention(['--dry-run'], { RETENTION_BODIES: '0' });
  expect(refused).toMatchObject({ code: 78, text: expect.stringContaining('RETENTION_BODIES: must not exceed') });
});
