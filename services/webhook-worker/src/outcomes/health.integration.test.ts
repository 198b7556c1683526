import type { Database } from '@enterprise-api/shared/ledger';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import type { LeaseRow } from '../leases/lease.ts';
import { circuitOpenForMs, findHealth, leaseDeliveries, outcomeOf } from '../testing/ledger.ts';
import type { Outcome } from './outcome.ts';
import { recordOutcomes } from './record-outcomes.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

describe('health', () => {
  it('is not written for a webhook that only succeeds', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 3);
    await recordOutcomes(
      db,
      leases.map((lease) => outcomeOf(lease, { result: 'delivered' })),
    );
    expect(await findHealth(db, webhookId)).toBeUndefined();
  });

  it('opens the circuit after 5 failures in a row, longer each time, and a success closes it', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 16);
    const fail = async (from: number, to: number) =>
      recordOutcomes(
        db,
        leases.slice(from, to).map((lease) => outcomeOf(lease)),
      );
    expect((await fail(0, 4)).circuitOpened).toEqual([]);
    expect((await fail(4, 5)).circuitOpened).toEqual([webhookId]);
    const openedForMs = await circuitOpenForMs(db, webhookId);
    expect(openedForMs).toBeGreaterThan(5_000);
    expect(openedForMs).toBeLessThanOrEqual(10_000);

    // Failures while it is open do not lengthen it.
    await fail(5, 7);
    expect(await findHealth(db, webhookId)).toMatchObject({ consecutive_failures: 7, openings: 1 });

    await sql`update webhook_health set open_until = now() - interval '1 s' where webhook_id = ${webhookId}`.execute(
      db,
    );
    expect((await fail(7, 8)).circuitOpened).toEqual([webhookId]);
    const reopenedForMs = await circuitOpenForMs(db, webhookId);
    expect(reopenedForMs).toBeGreaterThan(12_000);
    expect(reopenedForMs).toBeLessThanOrEqual(20_000);

    await recordOutcomes(db, [outcomeOf(leases[8] as LeaseRow, { result: 'delivered' })]);
    expect(await findHealth(db, webhookId)).toMatchObject({
      consecutive_failures: 0,
      failed_attempts: 0,
      first_failure_at: null,
      open_until: null,
      openings: 0,
    });
  });

  it('opens the circuit when the first batch of a webhook alone has 5 failures', async () => {
    const { leases } = await leaseDeliveries(db, 5);
    const { circuitOpened } = await recordOutcomes(
      db,
      leases.map((lease) => outcomeOf(lease)),
    );
    expect(circuitOpened).toHaveLength(1);
  });

  it('counts failures that say nothing about the endpoint towards disabling, not towards the circuit', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 6);
    const notFound: Partial<Outcome> = { statusCode: 404, countsForBreaker: false };
    const { circuitOpened } = await recordOutcomes(
      db,
      leases.map((lease) => outcomeOf(lease, notFound)),
    );
    expect(circuitOpened).toEqual([]);
    expect(await findHealth(db, webhookId)).toMatchObject({ consecutive_failures: 0, failed_attempts: 6 });
  });

  it('opens the circuit for as long as the receiver holds the webhook, an hour at most', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 1);
    const outcome = outcomeOf(leases[0] as LeaseRow, { holdForMs: 86_400_000 });
    expect((await recordOutcomes(db, [outcome])).circuitOpened).toEqual([webhookId]);
    const openForMs = await circuitOpenForMs(db, webhookId);
    expect(openForMs).toBeGreaterThan(3_000_000);
    expect(openForMs).toBeLessThanOrEqual(3_600_000);
  });

  it('does not count the time of pauses towards disabling, until a success', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 25);
    const record = (from: number, to: number, values: Partial<Outcome> = {}) =>
      recordOutcomes(
        db,
        leases.slice(from, to).map((lease) => outcomeOf(lease, values)),
      );
    await record(0, 20);
    await sql`update webhook_health set first_failure_at = now() - interval '6 days', paused_for = '12 hours'
      where webhook_id = ${webhookId}`.execute(db);
    const paused = (from: string, until: string) =>
      sql`insert into webhook_controls (webhook_id, paused_since, resume_at)
        values (${webhookId}, now() - ${from}::interval, now() - ${until}::interval)
        on conflict (webhook_id) do update set paused_since = excluded.paused_since, resume_at = excluded.resume_at`.execute(
        db,
      );
    await paused('13 hours', '-1 hour');
    expect((await record(20, 21)).failing).toEqual([]);
    await paused('13 hours', '2 hours');
    expect((await record(21, 22)).failing).toEqual([webhookId]);
    await record(22, 23, { result: 'delivered' });
    await record(23, 24);
    const { rows } =
      await sql`select paused_for = '0' as ended from webhook_health where webhook_id = ${webhookId}`.execute(db);
    expect(rows).toEqual([{ ended: true }]);
  });

  it('reports a webhook as failing after 20 failed attempts over 5 days without a success', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 25);
    const fail = (from: number, to: number) =>
      recordOutcomes(
        db,
        leases.slice(from, to).map((lease) => outcomeOf(lease)),
      );
    await fail(0, 18);
    const longAgo = sql`update webhook_health set first_failure_at = now() - interval '5 days 1 minute'
      where webhook_id = ${webhookId}`;
    await longAgo.execute(db);
    expect((await fail(18, 19)).failing).toEqual([]);
    expect((await fail(19, 20)).failing).toEqual([webhookId]);
    await sql`update webhook_health set first_failure_at = now() - interval '4 days' where webhook_id = ${webhookId}`.execute(
      db,
    );
    expect((await fail(20, 21)).failing).toEqual([]);
  });

  it('is left alone by outcomes that do not count, such as those of tests', async () => {
    const { leases, webhookId } = await leaseDeliveries(db, 1);
    await recordOutcomes(db, [outcomeOf(leases[0] as LeaseRow, { countsForHealth: false, countsForBreaker: false })]);
    expect(await findHealth(db, webhookId)).toBeUndefined();
  });
});
