import { z } from 'zod';
import { emittableEventTypeSchema, eventTypeSchema, eventTypes } from './event-types.ts';
import { findUnstorable } from './json.ts';
import { exampleId, instantSchema, publicIdSchema } from './primitives.ts';

/** The maximum size of an event's `data` in bytes, as JSON. The queue-only producer accepts less. */
export const maxEventDataBytes = 256 * 1024;
export const maxEventsPerRequest = 1_000;

/**
 * An object with any fields, passed on unchanged. `z.record` would copy its fields and drop a field named `__proto__`,
 * which is valid here.
 */
export const eventDataSchema = z
  .custom<Record<string, unknown>>()
  .meta({
    description:
      'Any fields, passed on as they are: at most 256 KiB as JSON, nested at most 20 deep. `consultation.*` needs `consultation_id` and `batch.*` needs `batch_id`, strings of 1 to 200 characters.',
    jsonSchema: { type: 'object', additionalProperties: true },
  })
  .superRefine((data, context) => {
    if (typeof data === 'object' && data !== null && !Array.isArray(data)) return;
    context.addIssue({ code: 'invalid_type', expected: 'record', input: data, continue: false });
  });

const emitExample = {
  organization_id: exampleId('org'),
  type: 'consultation.completed',
  data: eventTypes['consultation.completed'].example,
  id: 'con_8f14e45f:completed',
};

export const emitEventSchema = z
  .strictObject({
    organization_id: publicIdSchema('org'),
    type: emittableEventTypeSchema.describe('The type of the event.'),
    data: eventDataSchema,
    id: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'must be 1 to 128 visible ASCII characters')
      .optional()
      .describe("The producer's own id. If an event of the organization has this id already, no new event is made."),
    occurred_at: instantSchema.optional().describe('When it happened; the time of acceptance by default.'),
  })
  .superRefine((event, context) => {
    const unstorable = findUnstorable(event.data);
    if (unstorable) {
      context.addIssue({ code: 'custom', path: ['data', ...unstorable.path], message: unstorable.reason });
      return;
    }
    const required = eventTypes[event.type].data.safeParse(event.data);
    for (const issue of required.error?.issues ?? []) {
      context.addIssue({ code: 'custom', path: ['data', ...issue.path], message: issue.message });
    }
    if (Buffer.byteLength(JSON.stringify(event.data)) > maxEventDataBytes) {
      context.addIssue({
        code: 'custom',
        path: ['data'],
        message: `must be at most ${maxEventDataBytes} bytes as JSON`,
      });
    }
  })
  .meta({ id: 'EmitEvent', description: 'An event, as an internal producer emits it.', examples: [emitExample] });
export type EmitEventInput = z.input<typeof emitEventSchema>;
export type EmitEvent = z.output<typeof emitEventSchema>;

export const emitBatchSchema = z
  .strictObject({ events: z.array(emitEventSchema).min(1).max(maxEventsPerRequest).describe('The events.') })
  .meta({ id: 'EmitEvents', description: 'Events, all or nothing.', examples: [{ events: [emitExample] }] });

export const emitRequestSchema = z.union([emitBatchSchema, emitEventSchema]).meta({
  id: 'EmitRequest',
  description: 'One event, or up to 1,000.',
  examples: [emitExample],
});

export type EmitRequest = z.output<typeof emitRequestSchema>;

/** Selects the schema that a body is meant to satisfy, so that errors name only fields of that schema. */
export function narrowEmitRequest(body: unknown): typeof emitBatchSchema | typeof emitEventSchema {
  return typeof body === 'object' && body !== null && 'events' in body ? emitBatchSchema : emitEventSchema;
}

const emittedExample = {
  id: exampleId('evt'),
  type: 'consultation.completed',
  organization_id: exampleId('org'),
  duplicate: false,
};

export const emittedEventSchema = z
  .strictObject({
    id: publicIdSchema('evt'),
    type: eventTypeSchema.describe('The type of the event.'),
    organization_id: publicIdSchema('org'),
    duplicate: z
      .boolean()
      .describe('Whether an earlier event has the same producer id. `id` then names the earlier event.'),
  })
  .meta({ id: 'EmittedEvent', description: 'An event that was accepted.', examples: [emittedExample] });
export type EmittedEvent = z.infer<typeof emittedEventSchema>;

export const emittedEventsSchema = z
  .strictObject({ data: z.array(emittedEventSchema).describe('The events, in the order of the request.') })
  .meta({
    id: 'EmittedEvents',
    description: 'The events that were accepted, in the order of the request.',
    examples: [{ data: [emittedExample] }],
  });
