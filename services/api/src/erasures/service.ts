import {
  type CreateErasure,
  type Erasure,
  type ErasureCounts,
  type ErasureRecord,
  type ExportErasuresQuery,
  type ListErasuresQuery,
  noErasureCounts,
  type Page,
} from '@enterprise-api/shared/contracts';
import {
  coversQueuedEvent,
  type Database,
  type ErasureCoverage,
  findCoveredEvents,
  insertErasure,
  type RequestedSelection,
  selectionDigest,
} from '@enterprise-api/shared/ledger';
import { findWholeEvents, type QueueBackend } from '@enterprise-api/shared/queue';
import { fromPublicId, nilUuid, toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import type { SecretBox } from '@enterprise-api/shared/security';
import { requireActive } from '../core/require-active.ts';
import type { Transact } from '../core/unit-of-work.ts';
import { invalid, isProblem, type Problem, problem } from '../http/problem.ts';
import { type Cursors, type PageQuestion, paginate } from '../pagination/paging.ts';
import {
  countErasable,
  type ErasureRow,
  findErasure,
  listErasures,
  listRecords,
  noteExported,
  type RecordRow,
  timeAsText,
} from './queries.ts';

export type ErasureService = ReturnType<typeof createErasureService>;

interface ErasureServiceOptions {
  db: Database;
  cursors: Cursors;
  secretBox: Pick<SecretBox, 'seal'>;
  queue: QueueBackend;
}

export function createErasureService({ db, cursors, secretBox, queue }: ErasureServiceOptions) {
  return {
    create: (transact: Transact, body: CreateErasure): Promise<Erasure | Problem> =>
      transact(async ({ trx, acted }) => {
        const organizationId = fromPublicId('org', body.organization_id) ?? nilUuid;
        const refused = await requireActive(trx, organizationId);
        if (refused !== undefined) return refused;
        const requestedAt = await timeAsText(trx);
        if (body.before !== undefined && body.before.getTime() > Date.parse(requestedAt)) return inFuture;
        const coverage = { organizationId, requestedAt, selection: selectionOf(body) };
        if (body.dry_run) return presentDryRun(coverage, body, await count(trx, queue, coverage));
        const reason = body.reason ?? null;
        const row = await insertErasure(trx, secretBox.seal, { organizationId, selection: coverage.selection, reason });
        await acted({ action: 'erasure.requested', objectId: row.id, organizationId });
        return present(row);
      }),

    get: async (id: Uuid): Promise<Erasure | Problem> => {
      const row = await findErasure(db, id);
      return row === undefined ? problem('not_found') : present(row);
    },

    list: ({ cursor, limit, organization_id, state }: ListErasuresQuery) => {
      const organizationId = organization_id === undefined ? undefined : fromPublicId('org', organization_id);
      const scope = { list: 'erasures', organizationId: organizationId ?? null, filters: { state } };
      const ask = (page: PageQuestion) => listErasures(db, page, organizationId ?? undefined, state);
      return paginate(cursors, { cursor, limit }, scope, ask, present);
    },

    export: async (query: ExportErasuresQuery): Promise<Page<ErasureRecord> | Problem> => {
      const scope = { list: 'erasure records', organizationId: null, filters: {} };
      const page = await paginate(cursors, query, scope, (asked) => listRecords(db, asked), presentRecord);
      if (!isProblem(page) && !page.has_more) await noteExported(db);
      return page;
    },
  };
}

function presentRecord(row: RecordRow): ErasureRecord {
  const prefix = { erasure: 'ers', closing: 'org', revocation: 'key' } as const;
  const { kind, selection_kind: selected, selection_sha256: sha256 } = row;
  return {
    object: 'erasure_record',
    kind,
    id: toPublicId(prefix[kind], row.id),
    organization_id: toPublicId('org', row.organization_id),
    at: row.position,
    selection:
      selected === null || sha256 === null
        ? null
        : {
            kind: selected,
            sha256,
            event_ids: row.selected_ids?.map((id) => toPublicId('evt', id)) ?? null,
            before: row.selected_before?.toISOString() ?? null,
          },
    reason: row.reason,
  };
}

const inFuture = invalid([
  { location: 'body', path: 'before', code: 'invalid_value', message: 'must not be in the future' },
]);

function selectionOf({ subject, event_ids: ids, before }: CreateErasure): RequestedSelection {
  if (subject !== undefined) return { kind: 'subject', subject };
  if (ids !== undefined) {
    return { kind: 'event_ids', eventIds: [...new Set(ids)].flatMap((id) => fromPublicId('evt', id) ?? []) };
  }
  return before === undefined ? { kind: 'all' } : { kind: 'before', before: before.toISOString() };
}

const countedPerPage = 1_000;

async function count(db: Database, queue: QueueBackend, coverage: ErasureCoverage): Promise<ErasureCounts> {
  const counts = { ...noErasureCounts };
  const search = { from: null, afterPosition: 0, pageSize: countedPerPage };
  for await (const { eventIds } of findCoveredEvents(db, coverage, search)) {
    const found = await countErasable(db, eventIds);
    for (const name of Object.keys(found) as (keyof typeof found)[]) counts[name] += found[name];
  }
  await findWholeEvents(
    queue,
    (job) => coversQueuedEvent(coverage, job),
    async ({ length }) => {
      counts.queued = length;
    },
  );
  return counts;
}

function presentDryRun(
  { organizationId, requestedAt, selection }: ErasureCoverage & { selection: RequestedSelection },
  { reason }: CreateErasure,
  counts: ErasureCounts,
): Erasure {
  const now = new Date(requestedAt);
  const shown = present({
    id: nilUuid,
    organization_id: organizationId,
    selection_kind: selection.kind,
    selection_sha256: selectionDigest(organizationId, selection),
    reason: reason ?? null,
    requested_at: now,
    completed_at: now,
    counts,
  });
  return { ...shown, id: null };
}

function present(row: ErasureRow): Erasure {
  return {
    id: toPublicId('ers', row.id),
    object: 'erasure',
    organization_id: toPublicId('org', row.organization_id),
    state: row.completed_at === null ? 'running' : 'completed',
    selection: { kind: row.selection_kind, sha256: row.selection_sha256 },
    reason: row.reason,
    requested_at: row.requested_at.toISOString(),
    completed_at: row.completed_at?.toISOString() ?? null,
    counts: row.counts,
  };
}
