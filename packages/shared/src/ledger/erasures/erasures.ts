import { sql } from 'kysely';
import { noErasureCounts } from '../../contracts/index.ts';
import { newUuid, type Uuid } from '../../runtime/ids.ts';
import type { DatabaseTransaction } from '../database.ts';
import type { Row } from '../schema.ts';
import {
  type ErasureCoverage,
  erasureContext,
  type RequestedSelection,
  sealSelection,
  selectionDigest,
} from './selection.ts';

export interface NewErasure {
  organizationId: Uuid;
  selection: RequestedSelection;
  reason: string | null;
}

/**
 * Inserts an erasure, which a worker then finds and runs. The columns that fan-out compares hold the selection as a
 * hash, a time or ids.
 *
 * @param seal encrypts the selection
 */
export async function insertErasure(
  trx: DatabaseTransaction,
  seal: (plaintext: string, context: string) => string,
  { organizationId, selection, reason }: NewErasure,
): Promise<Row<'erasures'>> {
  const id = newUuid();
  const { kind } = selection;
  await sql`select pg_advisory_xact_lock(${erasuresOf(organizationId)})`.execute(trx);
  return trx
    .insertInto('erasures')
    .values({
      id,
      organization_id: organizationId,
      selection_kind: kind,
      selection_sha256: selectionDigest(organizationId, selection),
      selection_sealed: seal(sealSelection(selection), erasureContext(organizationId, id)),
      selected_subject: kind === 'subject' ? sql<string>`event_key(${organizationId}, ${selection.subject})` : null,
      selected_ids: kind === 'event_ids' ? [...selection.eventIds] : null,
      selected_before: kind === 'before' ? new Date(selection.before) : null,
      reason,
      completed_at: null,
      counts: JSON.stringify(noErasureCounts),
    })
    .returningAll()
    .executeTakeFirstOrThrow();
}

export interface RunningErasure {
  id: Uuid;
  coverage: Omit<ErasureCoverage, 'selection'>;
  selectionSealed: string;
}

const erasuresOf = (organizationId: Uuid) => sql`hashtextextended(${`erasures ${organizationId}`}, 0)`;

/** Returns null for an unknown organization. Until the transaction ends, a lock prevents new erasures. */
export async function findRunningErasures(
  trx: DatabaseTransaction,
  organizationId: Uuid,
): Promise<{ state: Row<'organizations'>['state']; erasures: RunningErasure[] } | null> {
  await sql`select pg_advisory_xact_lock_shared(${erasuresOf(organizationId)})`.execute(trx);
  const { rows } = await sql<{
    state: Row<'organizations'>['state'];
    id: Uuid | null;
    requested_at: string;
    sealed: string;
  }>`
    select o.state, e.id, e.requested_at::text, e.selection_sealed as sealed
    from organizations o left join erasures e on e.organization_id = o.id and e.completed_at is null
    where o.id = ${organizationId}`.execute(trx);
  const [first] = rows;
  if (first === undefined) return null;
  const erasures = rows.flatMap(({ id, requested_at: requestedAt, sealed: selectionSealed }) =>
    id === null ? [] : [{ id, coverage: { organizationId, requestedAt }, selectionSealed }],
  );
  return { state: first.state, erasures };
}

/** Deletes a closing organization's webhooks. Workers then cancel its pending deliveries and create no others. */
export async function deleteWebhooksOf(trx: DatabaseTransaction, organizationId: Uuid): Promise<Uuid[]> {
  const { rows } = await sql<{ id: Uuid }>`
    update webhooks set state = 'deleted', secret_sealed = null, previous_secret_sealed = null,
      previous_secret_expires_at = null, header_names = null, headers_sealed = null, version = version + 1, updated_at = clock_timestamp()
    where organization_id = ${organizationId} and state <> 'deleted' returning id`.execute(trx);
  return rows.map((row) => row.id);
}
