import { z } from 'zod';
import { type EventType, eventTypeSchema, eventTypes } from './event-types.ts';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

/** The body of every delivery of an event of this type. */
export function eventBodySchema(type: EventType) {
  return z.strictObject({
    id: publicIdSchema('evt'),
    type: z.literal(type).describe('The type of the event.'),
    timestamp: timestampSchema.describe('When it happened; if the producer gave no time, when it was accepted.'),
    organization_id: publicIdSchema('org'),
    data: eventTypes[type].data.describe('The facts. Types may get further fields.'),
    test: z.boolean().optional().describe('True in tests. Other events lack this field.'),
  });
}

export function eventBodyJsonSchema(type: EventType): Record<string, z.core.util.JSONType> {
  return z.toJSONSchema(eventBodySchema(type), {
    target: 'draft-2020-12',
    override: ({ jsonSchema }) => {
      // zod adds these bounds to every integer.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  }) as Record<string, z.core.util.JSONType>;
}

export function eventBodyExample(type: EventType): Record<string, z.core.util.JSONType> {
  return {
    id: exampleId('evt'),
    type,
    timestamp: '2026-11-21T07:00:00.000Z',
    organization_id: exampleId('org'),
    data: eventTypes[type].example as Record<string, z.core.util.JSONType>,
    ...(type === 'webhook.test' && { test: true }),
  };
}

/** Any JSON value, passed on unchanged. For documents whose fields we do not declare. */
export const anyJsonSchema = z.json().meta({ jsonSchema: {} });

/** An entry of GET /v1/webhooks/event-types. `schema` and `example` describe the whole body of a delivery. */
export const eventTypeEntrySchema = z
  .strictObject({
    object: z.literal('event_type'),
    type: eventTypeSchema.describe('The name of the type.'),
    description: z.string().describe('When such an event happens.'),
    schema: z.record(z.string(), anyJsonSchema).describe('JSON Schema (draft 2020-12) of the body of a delivery.'),
    example: z
      .record(z.string(), anyJsonSchema)
      // The OpenAPI document names the schema of a delivery's body `EventBody`.
      .meta({ description: 'A body of a delivery.', jsonSchema: { $ref: '#/$defs/EventBody' } }),
  })
  .meta({
    id: 'EventTypeEntry',
    description: 'A type of event that webhooks can subscribe to, with the shape of its deliveries.',
    // Has no example, because linters mistake an object with `type` and `example` for a schema.
  });
export type EventTypeEntry = z.infer<typeof eventTypeEntrySchema>;
