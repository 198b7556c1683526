import type { Generated } from 'kysely';
import type { Uuid } from '../runtime/ids.ts';

/** Requests of a key to an area in an hour, as the API's processes have counted them. */
export interface UsageRequestsTable {
  organization_id: Uuid;
  /** When the hour begins, UTC. */
  hour: Date;
  key_id: Uuid;
  area: string;
  requests: number;
  refused: number;
  bytes_in: number;
  bytes_out: number;
}

/** The last batch of counts that each process has written, so that none is added twice. */
export interface UsageWritersTable {
  id: Uuid;
  sequence: number;
  written_at: Generated<Date>;
}

/** Events, deliveries and attempts of an organization in an hour, counted from the other tables. */
export interface UsageLedgerTable {
  organization_id: Uuid;
  hour: Date;
  events: number;
  deliveries: number;
  attempts: number;
}

/** How far {@link UsageLedgerTable} has come: one row. */
export interface UsageProgressTable {
  only_row: Generated<boolean>;
  /** Everything recorded before this time is counted. */
  counted_until: Date | null;
  /** Every transaction that recorded something before this time has ended: it can be counted. */
  complete_until: Date | null;
  /** When a transaction that counted began, and its id. */
  mark_at: Date | null;
  mark_xid: number | null;
}
