import { z } from 'zod';
import { emittableEventTypeSchema } from './event-types.ts';
import { eventDataSchema } from './events.ts';
import { orderSchema, pageQueryShape, repeatable } from './pagination.ts';
import { forwardPeriod, instantSchema, publicIdSchema, timestampSchema } from './primitives.ts';

export const listEventsQuerySchema = forwardPeriod(
  z.strictObject({
    ...pageQueryShape,
    order: orderSchema,
    type: repeatable(emittableEventTypeSchema),
    since: instantSchema.optional(),
    until: instantSchema.optional(),
  }),
);
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema>;

/** An event of an organization, as its history shows it. */
export const eventSchema = z.strictObject({
  id: publicIdSchema('evt'),
  object: z.literal('event'),
  type: emittableEventTypeSchema,
  /** When the ledger took it. */
  created_at: timestampSchema,
  /** As its producer gave it; null when it gave none. */
  occurred_at: timestampSchema.nullable(),
  /** As emitted: numbers keep digits that a double would lose. */
  data: eventDataSchema,
});
export type Event = z.infer<typeof eventSchema>;
