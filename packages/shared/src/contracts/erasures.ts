import { z } from 'zod';
import { isShortText, isStorableText } from './json.ts';
import { pageQueryShape } from './pagination.ts';
import { exampleId, instantSchema, publicIdSchema, shortTextSchema, timestampSchema } from './primitives.ts';

export const selectionKinds = ['subject', 'event_ids', 'before', 'all'] as const;
export type SelectionKind = (typeof selectionKinds)[number];

const maxErasedIds = 1_000;
const subjectRule = 'must be a string of 1 to 200 characters';

const confirmedKinds: readonly SelectionKind[] = ['before', 'all'];

export const createErasureSchema = z
  .strictObject({
    organization_id: publicIdSchema('org'),
    subject: z
      .string(subjectRule)
      .refine((text) => isStorableText(text) && text !== '' && isShortText(text), subjectRule)
      .optional()
      .describe('Erases the events with this subject, such as a `consultation_id` or a `batch_id`, exactly.'),
    event_ids: z
      .array(publicIdSchema('evt'))
      .min(1)
      .max(maxErasedIds)
      .optional()
      .describe('Erases these events. Ids of other events are ignored.'),
    before: instantSchema.optional().describe('Erases the events that were accepted before this time.'),
    all: z.literal(true).optional().describe('Erases every event.'),
    reason: shortTextSchema
      .optional()
      .describe('A ticket number, never a name: the receipt keeps it. It must not contain the subject.'),
    dry_run: z.boolean().default(false).describe('Whether to count what would be erased, and to erase nothing.'),
    confirm: publicIdSchema('org').optional().describe('The `organization_id` again; `before` and `all` need it.'),
  })
  .superRefine((body, context) => {
    const given = selectionKinds.filter((kind) => body[kind] !== undefined);
    const [kind] = given;
    if (kind === undefined || given.length > 1) {
      const message = `must have exactly one of: ${selectionKinds.join(', ')}`;
      context.addIssue({ code: 'custom', path: given.slice(1, 2), message });
      return;
    }
    const mustConfirm = body.confirm !== undefined || confirmedKinds.includes(kind);
    if (mustConfirm && body.confirm !== body.organization_id) {
      context.addIssue({ code: 'custom', path: ['confirm'], message: 'must be the organization_id' });
    }
    if (body.subject !== undefined && body.reason?.includes(body.subject)) {
      context.addIssue({ code: 'custom', path: ['reason'], message: 'must not contain the subject' });
    }
  })
  .meta({
    id: 'CreateErasure',
    description: 'A selection of events: exactly one of `subject`, `event_ids`, `before` and `all`.',
    examples: [
      { organization_id: exampleId('org'), subject: 'con_8f14e45f', reason: 'TICKET-4711' },
      { organization_id: exampleId('org'), all: true, confirm: exampleId('org'), dry_run: true },
    ],
  });
export type CreateErasure = z.output<typeof createErasureSchema>;

const erasureStates = ['running', 'completed'] as const;
const stateFilter = z.enum(erasureStates).optional().describe('Only erasures in this state.');

export const listErasuresQuerySchema = z.strictObject({
  ...pageQueryShape,
  organization_id: publicIdSchema('org').optional(),
  state: stateFilter,
});
export type ListErasuresQuery = z.output<typeof listErasuresQuerySchema>;

export const listOwnErasuresQuerySchema = z.strictObject({ ...pageQueryShape, state: stateFilter });

const count = z.int().min(0);

export const erasureCountsSchema = z.strictObject({
  events: count.describe('Events that were erased.'),
  bodies: count.describe('Bodies of events that were deleted.'),
  responses: count.describe('Attempts whose response was deleted.'),
  deliveries_canceled: count.describe('Pending deliveries that were canceled.'),
  queued: count.describe('Events that were still in the queue.'),
});
export type ErasureCounts = z.output<typeof erasureCountsSchema>;

export const noErasureCounts: ErasureCounts = { events: 0, bodies: 0, responses: 0, deliveries_canceled: 0, queued: 0 };

export const erasureSchema = z
  .strictObject({
    id: publicIdSchema('ers').nullable().describe('Id of the erasure; null for a dry run.'),
    object: z.literal('erasure'),
    organization_id: publicIdSchema('org'),
    state: z
      .enum(erasureStates)
      .describe('`running`, or `completed`: no process, stream or replica shows the data any more.'),
    selection: z
      .strictObject({
        kind: z.enum(selectionKinds).describe('How the events were selected.'),
        sha256: z
          .string()
          .describe(
            'SHA-256 of `organization_id`, `:` and a value. The value is the subject, or the distinct event ids, sorted and joined by `,`, or the time in RFC 3339, UTC, with milliseconds, or `all`.',
          ),
      })
      .describe('The selection, without its value.'),
    reason: z.string().nullable().describe('Why, as the caller said; null if the caller did not say.'),
    requested_at: timestampSchema.describe('When it was requested. It covers events that were accepted before.'),
    completed_at: timestampSchema.nullable().describe('When it was completed; null while it runs.'),
    counts: erasureCountsSchema.describe('The numbers of erased things so far.'),
  })
  .meta({
    id: 'Erasure',
    description: 'The receipt of an erasure. It holds no erased value.',
    examples: [
      {
        id: exampleId('ers'),
        object: 'erasure',
        organization_id: exampleId('org'),
        state: 'completed',
        selection: { kind: 'subject', sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
        reason: 'TICKET-4711',
        requested_at: '2026-11-21T07:00:00.000Z',
        completed_at: '2026-11-21T07:00:12.000Z',
        counts: { ...noErasureCounts, events: 2, bodies: 2, responses: 1 },
      },
    ],
  });
export type Erasure = z.output<typeof erasureSchema>;

export const exportErasuresQuerySchema = z.strictObject(pageQueryShape);
export type ExportErasuresQuery = z.output<typeof exportErasuresQuerySchema>;

/** The database's time in UTC with microseconds, because an erasure covers events by their exact times. */
const exactTimeSchema = z.iso.datetime({ precision: 6 });

export const recordKinds = ['erasure', 'closing', 'revocation'] as const;

/** An action to repeat after a restore. */
export const erasureRecordSchema = z
  .strictObject({
    object: z.literal('erasure_record'),
    kind: z.enum(recordKinds).describe('An erasure, the closing of an organization, or the revocation of a key.'),
    id: z
      .union([publicIdSchema('ers'), publicIdSchema('org'), publicIdSchema('key')])
      .describe('Id of the erasure, the organization or the key.'),
    organization_id: publicIdSchema('org'),
    at: exactTimeSchema.describe(
      'When it was requested; of a closing, when its data are due to be erased. UTC with microseconds.',
    ),
    selection: z
      .strictObject({
        kind: z.enum(selectionKinds).describe('How the events were selected.'),
        sha256: z.string().describe('The digest of the receipt.'),
        event_ids: z
          .array(publicIdSchema('evt'))
          .nullable()
          .describe('The selected ids; null unless ids were selected.'),
        before: timestampSchema.nullable().describe('The selected time; null unless a time was selected.'),
      })
      .nullable()
      .describe('The selection; null unless this is an erasure.'),
    reason: z.string().nullable().describe('Why, as the caller said; null if the caller did not say.'),
  })
  .meta({
    id: 'ErasureRecord',
    description:
      'An erasure, a closing or a revocation that must be done again after a restore. It holds no erased value.',
    examples: [
      {
        object: 'erasure_record',
        kind: 'revocation',
        id: exampleId('key'),
        organization_id: exampleId('org'),
        at: '2026-11-21T07:00:00.000000Z',
        selection: null,
        reason: null,
      },
    ],
  });
export type ErasureRecord = z.output<typeof erasureRecordSchema>;
