import {
  type ErasureCounts,
  type ErasureRecord,
  erasureRecordSchema,
  noErasureCounts,
} from '@enterprise-api/shared/contracts';
import {
  type Database,
  type ErasureCoverage,
  type ErasureSelection,
  findCoveredEvents,
} from '@enterprise-api/shared/ledger';
import { fromPublicId, nilUuid, type Uuid } from '@enterprise-api/shared/runtime';
import { eventsPerBatch } from './erasures.ts';
import {
  closeAgain,
  eraseEvents,
  markRestore,
  type RepeatedErasure,
  revokeAgain,
  saveRepeated,
  unmarkRestore,
} from './queries.ts';

const search = { from: null, afterPosition: 0, pageSize: eventsPerBatch };

/**
 * Does everything again that an export names, in a restored ledger before any service starts. Services refuse to start
 * until it has succeeded. A second call changes nothing.
 *
 * @param lines the lines of an export
 * @throws when a line is not a record; nothing was changed
 */
export async function applyRecords(db: Database, lines: readonly string[]): Promise<{ events: number }> {
  const records = lines.map((line) => erasureRecordSchema.parse(JSON.parse(line)));
  await markRestore(db);
  let events = 0;
  for (const record of records) events += (await applyRecord(db, record)).events;
  await unmarkRestore(db);
  return { events };
}

async function applyRecord(
  db: Database,
  { kind, id, organization_id, at, selection, reason }: ErasureRecord,
): Promise<ErasureCounts> {
  const organizationId = fromPublicId('org', organization_id) ?? nilUuid;
  if (kind === 'closing') await closeAgain(db, organizationId);
  if (kind === 'revocation') await revokeAgain(db, fromPublicId('key', id) ?? nilUuid, at);
  if (selection === null) return noErasureCounts;
  const eventIds = selection.event_ids?.flatMap((each) => fromPublicId('evt', each) ?? []) ?? null;
  const coverage = { organizationId, requestedAt: at, selection: selectionOf(selection, eventIds) };
  const counts = await eraseCovered(db, coverage);
  await saveRepeated(
    db,
    { at, reason, selection },
    { id: fromPublicId('ers', id) ?? nilUuid, organizationId, eventIds },
    counts,
  );
  return counts;
}

function selectionOf(
  { kind, sha256, before }: RepeatedErasure['selection'],
  eventIds: Uuid[] | null,
): ErasureSelection {
  switch (kind) {
    case 'subject':
      return { kind: 'subject_digest', sha256 };
    case 'event_ids':
      return { kind, eventIds: eventIds ?? [] };
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
