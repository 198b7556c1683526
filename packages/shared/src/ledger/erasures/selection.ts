import { hash } from 'node:crypto';
import { type EventType, eventTypes } from '../../contracts/index.ts';
import { toPublicId, type Uuid } from '../../runtime/ids.ts';

/** `before` is RFC 3339, UTC, with milliseconds, so that a selection survives JSON. */
export type ErasureSelection =
  | { kind: 'subject'; subject: string }
  /** After a restore, only the digest of the subject is known, from the receipt. */
  | { kind: 'subject_digest'; sha256: string }
  | { kind: 'event_ids'; eventIds: readonly Uuid[] }
  | { kind: 'before'; before: string }
  | { kind: 'all' };

export type RequestedSelection = Exclude<ErasureSelection, { kind: 'subject_digest' }>;

/** An erasure covers the selected events that were accepted before the request. */
export interface ErasureCoverage {
  organizationId: Uuid;
  selection: ErasureSelection;
  /** The database's time as PostgreSQL writes it, with microseconds. */
  requestedAt: string;
}

/** The digest in a receipt. It lets people who know the selected value recognize the receipt. */
export function selectionDigest(organizationId: Uuid, selection: RequestedSelection): string {
  return hash('sha256', `${toPublicId('org', organizationId)}:${selectedValue(selection)}`, 'hex');
}

function selectedValue(selection: RequestedSelection): string {
  switch (selection.kind) {
    case 'subject':
      return selection.subject;
    case 'event_ids':
      return [...new Set(selection.eventIds.map((id) => toPublicId('evt', id)))].sort().join(',');
    case 'before':
      return selection.before;
    case 'all':
      return 'all';
  }
}

/** The encryption context of a selection: the sealed text opens only for this row. */
export function erasureContext(organizationId: Uuid, id: Uuid): string {
  return `erasure:${organizationId}:${id}`;
}

export function sealSelection(selection: RequestedSelection): string {
  return JSON.stringify(selection);
}

export function openSelection(text: string): RequestedSelection {
  return JSON.parse(text) as RequestedSelection;
}

const allFields = [...new Set(Object.values(eventTypes).flatMap(({ subject }) => subject ?? []))];

/** The fields of `data` that may name the subject. For a type that only a newer version knows, any known field may. */
function fieldsOf(type: unknown): readonly (string | null)[] {
  return Object.hasOwn(eventTypes, String(type)) ? [eventTypes[type as EventType].subject] : allFields;
}

/** A whole event in the queue. Do not trust its data, because any program may have added the job. */
export interface QueuedEvent {
  data: unknown;
  /** Milliseconds since 1970. */
  addedAt: number;
}

/** Whether an erasure covers an event that is still in the queue. */
export function coversQueuedEvent(coverage: ErasureCoverage, { data, addedAt }: QueuedEvent): boolean {
  const { event_id: id, event } = (data ?? {}) as { event_id?: unknown; event?: Record<string, unknown> };
  if (event?.organization_id !== toPublicId('org', coverage.organizationId)) return false;
  if (addedAt > Date.parse(coverage.requestedAt)) return false;
  const { selection } = coverage;
  switch (selection.kind) {
    case 'subject':
    case 'subject_digest': {
      const named = (event.data ?? {}) as Record<string, unknown>;
      return fieldsOf(event.type).some((field) => field !== null && isSelected(coverage, named[field]));
    }
    case 'event_ids':
      return selection.eventIds.includes(String(id));
    case 'before':
      return addedAt < Date.parse(selection.before);
    case 'all':
      return true;
  }
}

function isSelected({ organizationId, selection }: ErasureCoverage, subject: unknown): boolean {
  if (typeof subject !== 'string') return false;
  if (selection.kind === 'subject') return subject === selection.subject;
  return (
    selection.kind === 'subject_digest' &&
    selectionDigest(organizationId, { kind: 'subject', subject }) === selection.sha256
  );
}
