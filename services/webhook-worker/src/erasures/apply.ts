import {
  type ErasureCounts,
  type ErasureRecord,
  erasureRecordSchema,
  noErasureCounts,
} from '@enterprise-api/shared/contracts';
import {
  coversQueuedEvent,
  type Database,
  type ErasureCoverage,
  type ErasureSelection,
  findCoveredEvents,
} from '@enterprise-api/shared/ledger';
import { fromPublicId, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { type ErasureParts, eraseQueuedEvents, eventsPerBatch } from './erasures.ts';
import {
  closeAgain,
  eraseEvents,
  eraseFilters,
  markRestore,
  type RepeatedErasure,
  revokeAgain,
  saveRepeated,
  unmarkRestore,
} from './queries.ts';

const search = { from: null, afterPosition: 0, pageSize: eventsPerBatch };

/**
 * Repeats the erasures, closings and revocations of an export in a restored ledger, before any service starts. Services
 * refuse to start until this function has succeeded. A second call changes nothing.
 *
 * @param readExport returns the text of an export
 * @throws when a line is not a record. The ledger then stays marked as being restored; nothing else was changed
 */
export async function applyRecords(
  parts: Pick<ErasureParts, 'db' | 'clock' | 'queue'>,
  readExport: () => Promise<string>,
): Promise<{ records: number; events: number }> {
  const { db } = parts;
  await markRestore(db);
  const lines = (await readExport()).split('\n').filter((line) => line !== '');
  const records = lines.map((line) => erasureRecordSchema.parse(JSON.parse(line)));
  let events = 0;
  for (const record of records) events += (await applyRecord(db, record)).events;
  const coverages = records.flatMap((record) => coverageOf(record) ?? []);
  await eraseQueuedEvents(parts, nilUuid, (job) => coverages.some((coverage) => coversQueuedEvent(coverage, job)));
  await unmarkRestore(db);
  return { records: records.length, events };
}

async function applyRecord(db: Database, record: ErasureRecord): Promise<ErasureCounts> {
  const { kind, id, organization_id, at, selection, reason } = record;
  const organizationId = fromPublicId('org', organization_id) ?? nilUuid;
  if (kind === 'closing') await closeAgain(db, organizationId, at);
  if (kind === 'revocation') await revokeAgain(db, fromPublicId('key', id) ?? nilUuid, at);
  const coverage = coverageOf(record);
  if (selection === null || coverage === null) return noErasureCounts;
  await eraseFilters(db, organizationId);
  const counts = await eraseCovered(db, coverage);
  await saveRepeated(
    db,
    { at, reason, selection },
    { id: fromPublicId('ers', id) ?? nilUuid, organizationId, eventIds: eventIdsOf(selection) },
    counts,
  );
  return counts;
}

function coverageOf({ organization_id, at, selection }: ErasureRecord): ErasureCoverage | null {
  if (selection === null) return null;
  const organizationId = fromPublicId('org', organization_id) ?? nilUuid;
  return { organizationId, requestedAt: at, selection: selectionOf(selection) };
}

function eventIdsOf({ event_ids: ids }: RepeatedErasure['selection']): Uuid[] | null {
  return ids?.flatMap((id) => fromPublicId('evt', id) ?? []) ?? null;
}

function selectionOf(selection: RepeatedErasure['selection']): ErasureSelection {
  const { kind, sha256, before } = selection;
  switch (kind) {
    case 'subject':
      return { kind: 'subject_digest', sha256 };
    case 'event_ids':
      return { kind, eventIds: eventIdsOf(selection) ?? [] };
    case 'before':
      return { kind, before: before ?? '' };
    case 'all':
      return { kind };
  }
}

async function eraseCovered(db: Database, coverage: ErasureCoverage): Promise<ErasureCounts> {
  const counts = { ...noErasureCounts };
  for await (const { eventIds } of findCoveredEvents(db, coverage, search)) {
    if (eventIds.length === 0) continue;
    const erased = await db.transaction().execute((trx) => eraseEvents(trx, eventIds));
    for (const name of Object.keys(counts) as (keyof ErasureCounts)[]) counts[name] += erased[name];
  }
  return counts;
}
