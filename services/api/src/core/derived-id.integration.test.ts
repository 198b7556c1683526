import type { Database } from '@enterprise-api/shared/ledger';
import { newUuid, uuidTimeMs } from '@enterprise-api/shared/runtime';
import { openTestDatabase } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sql } from 'kysely';
import { deriveDeliveryId } from './derived-id.ts';

let db: Database;
let close: () => Promise<void>;

beforeAll(async () => {
  ({ db, close } = await openTestDatabase());
});
afterAll(() => close());

describe('the derived delivery id', () => {
  it('is the same in code and in SQL', async () => {
    for (let run = 0; run < 50; run++) {
      const [event, webhook] = [newUuid(), newUuid()];
      const { rows } = await sql<{ id: string }>`select delivery_id(${event}::uuid, ${webhook}::uuid) as id`.execute(
        db,
      );
      expect(rows[0]?.id).toBe(deriveDeliveryId(event, webhook));
    }
  });

  it('is the same for the same event and webhook, another for any other, and has the time of the event', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.uuid(), fc.uuid(), (event, webhook, other) => {
        fc.pre(webhook !== other);
        const id = deriveDeliveryId(event, webhook);
        expect(id).toBe(deriveDeliveryId(event, webhook));
        expect(id).not.toBe(deriveDeliveryId(event, other));
        expect(uuidTimeMs(id)).toBe(uuidTimeMs(event));
        expect(id).toMatch(/^.{14}8.{4}8/);
      }),
    );
  });
});
