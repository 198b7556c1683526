import { z } from 'zod';
import { type EventType, eventTypeSchema, eventTypes } from './event-types.ts';
import { publicIdSchema, timestampSchema } from './primitives.ts';

/** The body of every delivery of an event of this type. */
export function eventBodySchema(type: EventType) {
  return z.strictObject({
    id: publicIdSchema('evt'),
    type: z.literal(type),
    timestamp: timestampSchema,
    organization_id: publicIdSchema('org'),
    data: eventTypes[type].data,
  });
}

/** {@link eventBodySchema} as JSON Schema, draft 2020-12. */
export function eventBodyJsonSchema(type: EventType): Record<string, z.core.util.JSONType> {
  return z.toJSONSchema(eventBodySchema(type), { target: 'draft-2020-12' }) as Record<string, z.core.util.JSONType>;
}

/** A body that {@link eventBodySchema} accepts. */
export function eventBodyExample(type: EventType): Record<string, z.core.util.JSONType> {
  return {
    id: 'evt_01jd6kz5r8e2v9qxm3c7t4b0na',
    type,
    timestamp: '2026-11-21T07:00:00.000Z',
    organization_id: 'org_01jd6kz5r8e2v9qxm3c7t4b0na',
    data: eventTypes[type].example as Record<string, z.core.util.JSONType>,
  };
}

/** Any JSON, passed on as it is: documents whose fields are not ours to declare. */
export const anyJsonSchema = z.json();

/** An entry of GET /v1/webhooks/event-types; `schema` and `example` are of the whole body of a delivery. */
export const eventTypeEntrySchema = z.strictObject({
  object: z.literal('event_type'),
  type: eventTypeSchema,
  description: z.string(),
  schema: z.record(z.string(), anyJsonSchema),
  example: z.record(z.string(), anyJsonSchema),
});
export type EventTypeEntry = z.infer<typeof eventTypeEntrySchema>;
