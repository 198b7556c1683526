import type { Database } from '@enterprise-api/shared/ledger';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { insertEvents, insertOrganization, insertWebhook, openTestDatabase, testEvent } from '../index.ts';
import { auditLedger } from './ledger-audit.ts';

let db: Database;
let close: () => Promise<void>;
beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

describe('the audit of the ledger', () => {
  it('counts a missing pair for every enabled webhook that subscribes to an event without a delivery', async () => {
    const organizationId = await insertOrganization(db);
    for (const events of [
      ['*'],
      ['consultation.*'],
      ['consultation.completed'],
      ['consultation.failed'],
      ['batch.*'],
    ]) {
      await insertWebhook(db, { organizationId, events });
    }
    await insertWebhook(db, { organizationId, events: ['*'], state: 'deleted' });
    await insertEvents(db, [testEvent(organizationId, { type: 'consultation.completed' })]);
    expect(await auditLedger(db)).toMatchObject({ outbox: 1, missingPairs: 3, doublePairs: 0, violations: 0 });
  });
});
