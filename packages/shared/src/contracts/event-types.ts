import { z } from 'zod';
import { isShortText, isStorableText, maxTextLength } from './json.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

const identifierRule = 'must be a string of 1 to 200 characters';
const identifier = z
  .string(identifierRule)
  .min(1, identifierRule)
  .refine(isShortText, identifierRule)
  .meta({ maxLength: maxTextLength });

/** The subject of an event, as a list's filter. */
export const subjectFilterSchema = identifier
  .refine(isStorableText, 'must not contain NUL or lone surrogates')
  .optional()
  .describe('Only with this subject, such as a `consultation_id` or a `batch_id`, exactly.');

export const subjectSchema = z
  .string()
  .nullable()
  .describe('The subject of the event, such as its `consultation_id` or its `batch_id`. Null in tests.');

const consultationData = z.looseObject({ consultation_id: identifier.describe('Id of the consultation.') });
const batchData = z.looseObject({ batch_id: identifier.describe('Id of the batch.') });

const operationalFields = {
  organization_name: z.string().describe('The name of the organization.'),
  help_url: z.string().describe('The page that says what to do: a path at the address of the API.'),
  organization_id: publicIdSchema('org').optional().describe("In an operator's copy: whose event it is."),
  external_id: z
    .string()
    .nullable()
    .optional()
    .describe("In an operator's copy: the operator's id of that organization."),
};
const webhookFields = {
  ...operationalFields,
  webhook: z
    .looseObject({
      id: identifier.describe('Id of the webhook.'),
      url: z.string().describe('Its URL, without the query.'),
      description: z.string().nullable().describe("The owner's own note."),
    })
    .describe('The webhook that the event is about. It does not get the event.'),
};
const keyData = z.looseObject({
  ...operationalFields,
  api_key: z
    .looseObject({
      id: identifier.describe('Id of the API key.'),
      name: z.string().describe('A name for people.'),
      key_prefix: z.string().describe('The visible beginning of the key.'),
    })
    .describe('The API key.'),
  expires_at: timestampSchema.describe('When it expires.'),
});
const organizationExample = { organization_name: 'Example', help_url: '/docs/operational-events' };
const webhookExample = {
  ...organizationExample,
  webhook: { id: exampleId('whk'), url: 'https://hooks.example.com/in', description: 'Orders' },
};
const keyExample = {
  ...organizationExample,
  api_key: { id: exampleId('key'), name: 'production', key_prefix: 'nwk_8f14e45f' },
  expires_at: '2026-11-28T07:00:00.000Z',
};

/** A test checks that `example` satisfies `data`. */
export interface EventTypeDefinition {
  readonly description: string;
  /** True if webhooks may subscribe to this type. */
  readonly subscribable: boolean;
  /** True if only the service itself emits this type. Subscriptions, lists and streams must name it exactly. */
  readonly operational?: true;
  /** Required fields of `data`. Every other field passes through unchanged. */
  readonly data: z.ZodType<Record<string, unknown>>;
  /** The field of `data` that names the subject of the event. */
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
    example: { consultation_id: 'con_8f14e45f', status: 'completed', response_count: 2 },
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
    example: { batch_id: 'bat_c9f0f895', status: 'completed', total: 2, completed: 2, failed: 0 },
  },
  'batch.failed': {
    description: 'A batch failed entirely.',
    subscribable: true,
    data: batchData,
    subject: 'batch_id',
    example: { batch_id: 'bat_c9f0f895', status: 'failed', total: 2, completed: 0, failed: 2 },
  },
  'batch.partial_failure': {
    description: 'A batch completed with some failed items.',
    subscribable: true,
    data: batchData,
    subject: 'batch_id',
    example: { batch_id: 'bat_c9f0f895', status: 'partial_failure', total: 2, completed: 1, failed: 1 },
  },
  'webhook.test': {
    description: 'Sent by the test endpoint to one webhook alone; no webhook can subscribe to it.',
    subscribable: false,
    data: z.looseObject({ webhook_id: identifier.describe('Id of the webhook that is tested.') }),
    subject: null,
    example: { webhook_id: 'whk_01jd6kz5r8e2v9qxm3c7t4b0na', message: 'This is a test event.' },
  },
  'webhook.failing': {
    description: 'A webhook has had no success for a day; again 24 hours before it is disabled.',
    subscribable: true,
    operational: true,
    data: z.looseObject({
      ...webhookFields,
      cause: z.string().nullable().describe('The error of its newest delivery without success.'),
      count: z.int().describe('How many attempts have failed since the last success.'),
      failing_since: timestampSchema.describe('When the failures began.'),
      disable_at: timestampSchema.nullable().describe('When it will be disabled unless a delivery succeeds first.'),
    }),
    subject: null,
    example: {
      ...webhookExample,
      cause: 'timeout',
      count: 24,
      failing_since: '2026-11-20T07:00:00.000Z',
      disable_at: '2026-11-25T07:00:00.000Z',
    },
  },
  'webhook.disabled': {
    description: 'The service disabled a webhook: it had failed for days (`failing`), or answered 410 (`gone`).',
    subscribable: true,
    operational: true,
    data: z.looseObject({
      ...webhookFields,
      cause: z.enum(['failing', 'gone']).describe('Why it was disabled.'),
      count: z.int().describe('How many attempts have failed since the last success.'),
      disabled_at: timestampSchema.describe('When it was disabled.'),
    }),
    subject: null,
    example: { ...webhookExample, cause: 'failing', count: 24, disabled_at: '2026-11-21T07:00:00.000Z' },
  },
  'webhook.recovered': {
    description:
      'A delivery succeeded after `webhook.failing`, or a webhook was enabled after `webhook.disabled`, by a person or by a probe.',
    subscribable: true,
    operational: true,
    data: z.looseObject({
      ...webhookFields,
      cause: z.enum(['succeeded', 'enabled', 'probe']).describe('Why the webhook has recovered.'),
      recovered_at: timestampSchema.describe('When it recovered.'),
      skipped: z
        .int()
        .optional()
        .describe('After a probe: how many events the webhook did not get while it was disabled, at most 100,000.'),
      replay: z
        .looseObject({
          since: timestampSchema.describe('Shortly before the webhook was disabled.'),
          status: z.array(z.literal('skipped')).describe('Only events without a delivery to the webhook.'),
        })
        .optional()
        .describe('After a probe: the body of the request `POST /v1/webhooks/{id}/replay` that sends these events.'),
    }),
    subject: null,
    example: { ...webhookExample, cause: 'succeeded', recovered_at: '2026-11-21T07:00:00.000Z' },
  },
  'api_key.expiring': {
    description: 'An API key expires in 7 days; again one day before.',
    subscribable: true,
    operational: true,
    data: keyData,
    subject: null,
    example: keyExample,
  },
  'api_key.expired': {
    description: 'An API key has expired.',
    subscribable: true,
    operational: true,
    data: keyData,
    subject: null,
    example: { ...keyExample, expires_at: '2026-11-21T07:00:00.000Z' },
  },
  'replay.finished': {
    description: 'A replay was completed: none of its deliveries is pending.',
    subscribable: true,
    operational: true,
    data: z.looseObject({
      ...operationalFields,
      replay: z
        .looseObject({
          id: identifier.describe('Id of the replay.'),
          webhook_id: identifier.describe('Id of the webhook.'),
          matched: z.int().describe('How many deliveries it sent.'),
          succeeded: z.int().describe('How many of them it delivered.'),
          failed: z.int().describe('How many of them failed again.'),
          canceled: z.int().describe('How many of them were canceled.'),
        })
        .describe('The replay.'),
      completed_at: timestampSchema.describe('When it was completed.'),
    }),
    subject: null,
    example: {
      ...organizationExample,
      replay: {
        id: exampleId('rpl'),
        webhook_id: exampleId('whk'),
        matched: 2,
        succeeded: 1,
        failed: 1,
        canceled: 0,
      },
      completed_at: '2026-11-21T07:00:00.000Z',
    },
  },
} as const satisfies Record<string, EventTypeDefinition>;

/** Every event type, including `webhook.test`. */
export type EventType = keyof typeof eventTypes;

export const eventTypeNames = Object.keys(eventTypes) as EventType[];

export const subscribableEventTypeNames = eventTypeNames.filter((name) => eventTypes[name].subscribable);

/** The types that internal producers may emit. Lists and streams show them by default. */
export const emittableEventTypeNames = subscribableEventTypeNames.filter((name) => !isOperational(name));

export function isOperational(type: EventType): boolean {
  const definition: EventTypeDefinition = eventTypes[type];
  return definition.operational === true;
}

export const eventTypeSchema = z.enum(eventTypeNames as [EventType, ...EventType[]]).meta({
  // Not named `EventType`, because generated Go code already uses that name for a value.
  id: 'EventTypeName',
  description: 'The type of an event. `webhook.test` is sent by the test endpoint alone.',
  examples: ['consultation.completed'],
});

export const emittableEventTypeSchema = z.enum(emittableEventTypeNames as [EventType, ...EventType[]]).meta({
  id: 'EmittableEventType',
  description: 'A type of event that internal services emit.',
  examples: ['consultation.completed'],
});

export const subscribableEventTypeSchema = z.enum(subscribableEventTypeNames as [EventType, ...EventType[]]).meta({
  id: 'SubscribableEventType',
  description: 'A type of event that webhooks can subscribe to.',
  examples: ['consultation.completed'],
});

const familyWildcards = [...new Set(emittableEventTypeNames.map((name) => `${familyOf(name)}.*`))];

/** Valid entries of a webhook's `events`: a subscribable type, a family of emittable types (`batch.*`), or `*`. */
export const eventPatterns = [...subscribableEventTypeNames, ...familyWildcards, '*'];

export const eventPatternSchema = z.enum(eventPatterns as [string, ...string[]]).meta({
  id: 'EventPattern',
  description: 'A type of event, a family of types, or `*` for all types of consultations and batches.',
  examples: ['consultation.*'],
});

/** The families that `*` matches. It does not match families added later: webhooks must name those families. */
const familiesOfStar = new Set(['consultation', 'batch']);

/**
 * The patterns that match a type: its name, its family, and, for some families, `*`. Only its name matches an
 * operational type. If a type is not subscribable, no pattern matches it. Its events reach only the webhook for which
 * they were created.
 */
export function eventPatternsFor(type: EventType): string[] {
  if (!eventTypes[type].subscribable) return [];
  if (isOperational(type)) return [type];
  const family = familyOf(type);
  return [type, `${family}.*`, ...(familiesOfStar.has(family) ? ['*'] : [])];
}

/** The event types that a webhook with these patterns gets. */
export function typesMatching(patterns: readonly string[]): EventType[] {
  return eventTypeNames.filter((type) => eventPatternsFor(type).some((pattern) => patterns.includes(pattern)));
}

function familyOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}
