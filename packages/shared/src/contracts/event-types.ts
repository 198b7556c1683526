import { z } from 'zod';
import { isShortText, isStorableText, maxTextLength } from './json.ts';

const identifierRule = 'must be a string of 1 to 200 characters';
const identifier = z
  .string(identifierRule)
  .min(1, identifierRule)
  .refine(isShortText, identifierRule)
  .meta({ maxLength: maxTextLength });

/** What an event is about, as a list's filter. */
export const subjectFilterSchema = identifier
  .refine(isStorableText, 'must not contain NUL or lone surrogates')
  .optional()
  .describe('Only what is about this: the `consultation_id` or the `batch_id` of an event, exactly.');

export const subjectSchema = z
  .string()
  .nullable()
  .describe('What the event is about: its `consultation_id` or its `batch_id`. Null in tests.');

const consultationData = z.looseObject({ consultation_id: identifier.describe('Id of the consultation.') });
const batchData = z.looseObject({ batch_id: identifier.describe('Id of the batch.') });

/** A test checks that `example` satisfies `data`. */
export interface EventTypeDefinition {
  readonly description: string;
  /** True if webhooks may subscribe to this type and internal producers may emit it. */
  readonly subscribable: boolean;
  /** Required fields of `data`. Every other field passes through unchanged. */
  readonly data: z.ZodType<Record<string, unknown>>;
  /** The field of `data` that says what an event is about. */
  readonly subject: string | null;
  readonly example: Record<string, unknown>;
}

/**
 * Filters, validation, subscriptions, documentation and tests derive from this catalogue. To add an event type, add an
 * entry here and the code that emits it.
 */
export const eventTypes = {
  'consultation.completed': {
    description: 'A consultation finished successfully.',
    subscribable: true,
    data: consultationData,
    subject: 'consultation_id',
    example: { consultation_id: 'con_8f14e45f', status: 'completed', response_count: 12 },
  },
  'consultation.failed': {
    description: 'A consultation failed.',
    subscribable: true,
    data: consultationData,
    subject: 'consultation_id',
    example: { consultation_id: 'con_8f14e45f', status: 'failed', reason: 'panel_unavailable' },
  },
  'batch.completed': {
    description: 'All items in a batch completed.',
    subscribable: true,
    data: batchData,
    subject: 'batch_id',
    example: { batch_id: 'bat_c9f0f895', status: 'completed', total: 40, completed: 40, failed: 0 },
  },
  'batch.failed': {
    description: 'A batch failed entirely.',
    subscribable: true,
    data: batchData,
    subject: 'batch_id',
    example: { batch_id: 'bat_c9f0f895', status: 'failed', total: 40, completed: 0, failed: 40 },
  },
  'batch.partial_failure': {
    description: 'A batch completed with some failed items.',
    subscribable: true,
    data: batchData,
    subject: 'batch_id',
    example: { batch_id: 'bat_c9f0f895', status: 'partial_failure', total: 40, completed: 37, failed: 3 },
  },
  'webhook.test': {
    description: 'Sent by the test endpoint to one webhook alone; no webhook can subscribe to it.',
    subscribable: false,
    data: z.looseObject({ webhook_id: identifier.describe('Id of the webhook that is tested.') }),
    subject: null,
    example: { webhook_id: 'whk_01jd6kz5r8e2v9qxm3c7t4b0na', message: 'This is a test event.' },
  },
} as const satisfies Record<string, EventTypeDefinition>;

/** Every event type, including `webhook.test`. */
export type EventType = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

export const subscribableEventTypeNames = eventTypeNames.filter((name) => eventTypes[name].subscribable);

export const eventTypeSchema = z.enum(eventTypeNames as [EventType, ...EventType[]]).meta({
  // Not named `EventType`, because generated Go code already uses that name for a value.
  id: 'EventTypeName',
  description: 'The type of an event. `webhook.test` is sent by the test endpoint alone.',
  examples: ['consultation.completed'],
});

export const emittableEventTypeSchema = z.enum(subscribableEventTypeNames as [EventType, ...EventType[]]).meta({
  id: 'EmittableEventType',
  description: 'A type of event that webhooks can subscribe to.',
  examples: ['consultation.completed'],
});

const familyWildcards = [...new Set(subscribableEventTypeNames.map((name) => `${familyOf(name)}.*`))];

/** Valid entries of a webhook's `events`: a subscribable type, a family (`batch.*`), or `*`. */
export const eventPatterns = [...subscribableEventTypeNames, ...familyWildcards, '*'];

export const eventPatternSchema = z.enum(eventPatterns as [string, ...string[]]).meta({
  id: 'EventPattern',
  description: 'A type of event, a family of types, or `*` for all types of consultations and batches.',
  examples: ['consultation.*'],
});

/** The families that `*` matches. It does not match families added later: webhooks must name those families. */
const familiesOfStar = new Set(['consultation', 'batch']);

/**
 * The patterns that match a type: its name, its family, and `*`. No pattern matches a type that is not subscribable. An
 * event of that type reaches only the webhook for which it was created.
 */
export function eventPatternsFor(type: EventType): string[] {
  if (!eventTypes[type].subscribable) return [];
  const family = familyOf(type);
  return [type, `${family}.*`, ...(familiesOfStar.has(family) ? ['*'] : [])];
}

/** Each event type with each of its patterns. SQL statements join these pairs to match events with webhooks. */
export const eventPatternPairs: readonly { type: EventType; pattern: string }[] = eventTypeNames.flatMap((type) =>
  eventPatternsFor(type).map((pattern) => ({ type, pattern })),
);

function familyOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}
