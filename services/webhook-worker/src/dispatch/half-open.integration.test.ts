import type { Database } from '@enterprise-api/shared/ledger';
import { nilUuid } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { sql } from 'kysely';
import { fanOutEvents } from '../fan-out/queries.ts';
import type { LeaseRow } from '../leases/lease.ts';
import { releaseLeases } from '../leases/queries.ts';
import { recordOutcomes } from '../outcomes/record-outcomes.ts';
import {
  circuitOpenForMs,
  emitEvents,
  findDelivery,
  findHealth,
  leaseDeliveries,
  outcomeOf,
  plenty,
} from '../testing/ledger.ts';
import { leaseDueDeliveries } from './queries.ts';

const leaseMs = 45_000;

let db: Database;
let close: () => Promise<void>;
let webhookId: string;
let organizationId: string;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

/** A webhook with five deliveries due, whose circuit was open until a second ago. */
beforeEach(async () => {
  await sql`truncate deliveries, pending_deliveries, outbox`.execute(db);
  ({ webhookId, organizationId } = await leaseDeliveries(db, 5));
  await makeDue();
  await sql`insert into webhook_health (webhook_id, consecutive_failures, failed_attempts, first_failure_at, openings, open_until)
    values (${webhookId}, 5, 5, now(), 1, now() - interval '1 s')`.execute(db);
});

const makeDue = () =>
  sql`update pending_deliveries set next_attempt_at = now() - interval '1 s', lease_count = 0`.execute(db);
const dispatch = async (connection: Database = db): Promise<LeaseRow[]> =>
  (await leaseDueDeliveries(connection, { cursor: nilUuid, visit: 1_000, rows: 1_000, from: null }, plenty, leaseMs))
    .leases;
const leaseProbe = async (): Promise<LeaseRow> => (await dispatch())[0] as LeaseRow;

describe('a half-open circuit', () => {
  it('is tried by one delivery, of however many processes that dispatch at once', async () => {
    const answers = await Promise.all([dispatch(), dispatch(), dispatch()]);
    expect(answers.flat()).toHaveLength(1);
    expect(await dispatch()).toEqual([]);
  });

  it('is tried by one delivery also while the statement that leased it is not committed', async () => {
    await db.transaction().execute(async (other) => {
      expect(await dispatch(other)).toHaveLength(1);
      expect(await dispatch()).toEqual([]);
    });
    expect(await dispatch()).toEqual([]);
  });

  it('closes by a success, and everything that is due is leased', async () => {
    await recordOutcomes(db, [outcomeOf(await leaseProbe(), { result: 'delivered' })]);
    expect(await dispatch()).toHaveLength(4);
  });

  it('opens again for twice as long by a failure', async () => {
    const { circuitOpened } = await recordOutcomes(db, [outcomeOf(await leaseProbe())]);
    expect(circuitOpened).toEqual([webhookId]);
    expect(await circuitOpenForMs(db, webhookId)).toBeGreaterThan(12_000);
    expect(await findHealth(db, webhookId)).toMatchObject({ openings: 2 });
  });

  it('closes by an answer that does not count for the circuit, but remembers the failure', async () => {
    const notFound = { statusCode: 404, countsForBreaker: false };
    await recordOutcomes(db, [outcomeOf(await leaseProbe(), notFound)]);
    expect(await dispatch()).toHaveLength(4);
    expect(await findHealth(db, webhookId)).toMatchObject({
      consecutive_failures: 0,
      openings: 0,
      open_until: null,
      failed_attempts: 6,
      first_failure_at: expect.any(Date),
    });
  });

  it('is tried again when the outcome of the probe does not count at all', async () => {
    // Its delivery is due only after the time for which a probe is waited for.
    const ours = { delayMs: 3_600_000, countsForHealth: false, countsForBreaker: false } as const;
    await recordOutcomes(db, [outcomeOf(await leaseProbe(), { ...ours, error: 'secret_unavailable' })]);
    expect(await dispatch()).toHaveLength(1);
  });

  it('is tried again when the lease of the probe is released, or runs out', async () => {
    await sql`update pending_deliveries set lease_count = 7`.execute(db);
    const probe = await leaseProbe();
    await releaseLeases(db, [probe.id], [probe.lease_token]);
    expect(await dispatch()).toHaveLength(1);
    expect(await dispatch()).toEqual([]);
    await sql`update webhook_health set probe_until = probe_until - interval '2 h'`.execute(db);
    await sql`update pending_deliveries set next_attempt_at = next_attempt_at - interval '2 h'`.execute(db);
    expect(await dispatch()).toHaveLength(1);
  });

  it('is tried by another delivery after an ordinary lease when the one that was leased for longer got no outcome', async () => {
    await sql`update pending_deliveries set lease_count = 7`.execute(db);
    const probe = await leaseProbe();
    expect(Number((await findDelivery(db, probe.id)).next_attempt_at) - Date.now()).toBeGreaterThan(10 * leaseMs);
    expect(await dispatch()).toEqual([]);
    await sql`update webhook_health set probe_until = probe_until - ${leaseMs} * interval '1 ms'`.execute(db);
    const next = await dispatch();
    expect(next).toHaveLength(1);
    expect(next).not.toMatchObject([{ id: probe.id }]);
  });

  it('is not tried by new events: fan-out leases none of them', async () => {
    const fannedOut = await fanOutEvents(db, await emitEvents(db, organizationId, 3), plenty, {
      leaseMs,
      maxAttempts: 3,
    });
    expect(fannedOut).toMatchObject({ deliveries: 3, leases: [] });
    expect(await dispatch()).toHaveLength(1);
  });

  it('does not hold up tests, and is not tried by one', async () => {
    const probe = await leaseProbe();
    const makeTests = sql`update pending_deliveries set test = true where delivery_id <> ${probe.id}`;
    await makeTests.execute(db);
    expect(await dispatch()).toHaveLength(4);
    await releaseLeases(db, [probe.id], [probe.lease_token]);
    expect((await dispatch()).map(({ id }) => id)).toEqual([probe.id]);
  });
});
