import type { Generated } from 'kysely';
import type { Uuid } from '../runtime/ids.ts';

/** Requests of a key to an area per hour, counted by the API's processes. */
export interface UsageRequestsTable {
  organization_id: Uuid;
  hour: Date;
  key_id: Uuid;
  area: string;
  requests: number;
  refused: number;
  bytes_in: number;
  bytes_out: number;
}

/** The last batch of counts that each process wrote, so that no batch is added twice. */
export interface UsageWritersTable {
  id: Uuid;
  sequence: number;
  written_at: Generated<Date>;
}

/** Events, deliveries and attempts of an organization per hour, counted from the other tables. */
export interface UsageLedgerTable {
  organization_id: Uuid;
  hour: Date;
  events: number;
  deliveries: number;
  attempts: number;
}

export interface UsageProgressTable {
  only_row: Generated<boolean>;
  /** Everything recorded before this time is counted. */
  counted_until: Date | null;
  /** Every transaction that recorded something before this time has ended, so counting can proceed up to here. */
  complete_until: Date | null;
  /** `mark_at` and `mark_xid`: when a counting transaction began, and its id. */
  mark_at: Date | null;
  mark_xid: number | null;
}
