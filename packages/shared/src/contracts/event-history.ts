import { z } from 'zod';
import { deliveryStatusSchema } from './deliveries.ts';
import {
  eventPatternSchema,
  eventTypes,
  subjectFilterSchema,
  subjectSchema,
  subscribableEventTypeSchema,
} from './event-types.ts';
import { eventDataSchema } from './events.ts';
import { orderSchema, pageQueryShape, repeatable, searchableListSchema } from './pagination.ts';
import { exampleId, forwardPeriod, periodShape, publicIdSchema, timestampSchema } from './primitives.ts';

const listEventsShape = {
  ...pageQueryShape,
  order: orderSchema.describe(
    'The newest first (`desc`), or the oldest first (`asc`). With `asc` every page has a `next_cursor`, also the last and an empty one.',
  ),
  type: repeatable(subscribableEventTypeSchema),
  subject: subjectFilterSchema,
  ...periodShape,
};

export const listEventsQuerySchema = forwardPeriod(
  z.strictObject({
    ...listEventsShape,
    q: z
      .string()
      .regex(/^.{2,200}$/su, 'must be 2 to 200 characters')
      .optional()
      .describe(
        'Only events with this text in a string of their `data`, exactly and case-sensitive. A search, because no index finds it.',
      ),
  }),
);
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema>;

/** Operators see no data, and do not search it. */
export const listEventSummariesQuerySchema = forwardPeriod(z.strictObject(listEventsShape));

const eventFields = z.strictObject({
  id: publicIdSchema('evt'),
  object: z.literal('event'),
  type: subscribableEventTypeSchema.describe('The type of the event.'),
  subject: subjectSchema,
  created_at: timestampSchema.describe('When it was accepted.'),
  occurred_at: timestampSchema.nullable().describe('When it happened; null if the producer gave no time.'),
  data: eventDataSchema
    .nullable()
    .describe('The facts, as they were emitted; null once the body is past retention, or erased.'),
  erased_at: timestampSchema.nullable().describe('When its data was erased; null unless it was.'),
});

const summaryExample = {
  id: exampleId('evt'),
  object: 'event',
  type: 'consultation.completed',
  subject: 'con_8f14e45f',
  created_at: '2026-11-21T07:00:00.000Z',
  occurred_at: null,
  erased_at: null,
};
const eventExample = { ...summaryExample, data: eventTypes['consultation.completed'].example };

/** An event in an organization's history. Its data equals the emitted data, with all digits of its numbers. */
export const eventSchema = eventFields.meta({
  id: 'Event',
  description: 'A fact that happened. Subscribed webhooks receive it.',
  examples: [eventExample],
});
export type Event = z.infer<typeof eventSchema>;

export const eventListSchema = searchableListSchema(eventSchema);

/** An event in an operator's list, which shows no customer's data. */
export const eventSummarySchema = eventFields.omit({ data: true }).meta({
  id: 'EventSummary',
  description: 'An event without its data.',
  examples: [summaryExample],
});
export type EventSummary = z.infer<typeof eventSummarySchema>;

const receiverExample = {
  id: exampleId('whk'),
  url: 'https://hooks.example.com/in',
  delivery_id: exampleId('dlv'),
  status: 'succeeded',
};

export const inspectedEventSchema = eventFields
  .extend({
    webhooks: z
      .array(
        z.strictObject({
          id: publicIdSchema('whk'),
          url: z.string().nullable().describe('Its current URL; null if the webhook is no longer stored.'),
          delivery_id: publicIdSchema('dlv'),
          status: deliveryStatusSchema.describe('The state of the delivery.'),
        }),
      )
      .describe('The webhooks that have a delivery of the event.'),
  })
  .meta({
    id: 'InspectedEvent',
    description: 'An event with its data and the webhooks that got it.',
    examples: [{ ...eventExample, webhooks: [receiverExample] }],
  });
export type InspectedEvent = z.infer<typeof inspectedEventSchema>;

/** The maximum number of concurrent streams of an organization, across all processes. */
export const maxEventStreams = 10;

export const streamEventsQuerySchema = z.strictObject({
  events: repeatable(eventPatternSchema).describe(
    'Types and wildcards, as in `events` of a webhook; default: all events.',
  ),
  after: z
    .string()
    .optional()
    .describe(
      'The id of an event: the stream begins after it. `Last-Event-ID` means the same, and wins if both are sent.',
    ),
});
export type StreamEventsQuery = z.infer<typeof streamEventsQuerySchema>;
