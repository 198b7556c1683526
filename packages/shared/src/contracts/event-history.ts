import { z } from 'zod';
import { emittableEventTypeSchema, eventPatternSchema, eventTypes } from './event-types.ts';
import { eventDataSchema } from './events.ts';
import { orderSchema, pageQueryShape, repeatable } from './pagination.ts';
import { exampleId, forwardPeriod, periodShape, publicIdSchema, timestampSchema } from './primitives.ts';

export const listEventsQuerySchema = forwardPeriod(
  z.strictObject({
    ...pageQueryShape,
    order: orderSchema.describe(
      'The newest first (`desc`), or the oldest (`asc`): every page then has a `next_cursor`, the last and an empty one too.',
    ),
    type: repeatable(emittableEventTypeSchema),
    ...periodShape,
  }),
);
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema>;

const eventFields = z.strictObject({
  id: publicIdSchema('evt'),
  object: z.literal('event'),
  type: emittableEventTypeSchema,
  created_at: timestampSchema,
  occurred_at: timestampSchema.nullable().describe('As its producer gave it; null when it gave none.'),
  data: eventDataSchema.nullable().describe('As it was emitted; null once its body is past retention.'),
});

const eventExample = {
  id: exampleId('evt'),
  object: 'event',
  type: 'consultation.completed',
  created_at: '2026-11-21T07:00:00.000Z',
  occurred_at: null,
  data: eventTypes['consultation.completed'].example,
};

/** An event in an organization's history. Its data equals the emitted data, with all digits of its numbers. */
export const eventSchema = eventFields.meta({
  id: 'Event',
  description: 'A fact that happened, which webhooks are told of.',
  examples: [eventExample],
});
export type Event = z.infer<typeof eventSchema>;

/** The maximum number of concurrent streams of an organization, across all processes. */
export const maxEventStreams = 10;

export const streamEventsQuerySchema = z.strictObject({
  events: repeatable(eventPatternSchema).describe('Types and wildcards as webhooks have them; all events by default.'),
  after: z
    .string()
    .optional()
    .describe('An event: the stream begins behind it. `Last-Event-ID` is the same, and counts where both are sent.'),
});
export type StreamEventsQuery = z.infer<typeof streamEventsQuerySchema>;
