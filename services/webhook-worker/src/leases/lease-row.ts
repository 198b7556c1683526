import type { EventType } from '@enterprise-api/shared/contracts';
import type { Uuid } from '@enterprise-api/shared/runtime';
import { type RawBuilder, sql } from 'kysely';

/** The right to make one attempt of a delivery until a time, as fan-out and dispatch return it. */
export interface LeaseRow {
  id: string;
  organization_id: Uuid;
  webhook_id: Uuid;
  event_id: Uuid;
  event_type: EventType;
  attempt_count: number;
  max_attempts: number;
  round: number;
  manual: boolean;
  /** `next_attempt_at` as this lease set it, to the microsecond: no other lease of the row has the same. */
  lease_token: string;
  webhook_version: number;
}

/** The columns of {@link LeaseRow} without the webhook's version, from an alias of `deliveries`. */
export function leaseColumns(alias: string): RawBuilder<unknown> {
  const column = (name: string) => sql.ref(`${alias}.${name}`);
  return sql`${column('id')}, ${column('organization_id')}, ${column('webhook_id')}, ${column('event_id')},
    ${column('event_type')}, ${column('attempt_count')}, ${column('max_attempts')}, ${column('round')},
    ${column('manual')}, ${column('next_attempt_at')}::text as lease_token`;
}
