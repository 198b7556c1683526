import { z } from 'zod';
import { eventTypeSchema } from './event-types.ts';
import { orderSchema, pageQueryShape, repeatable } from './pagination.ts';
import { forwardPeriod, instantSchema, publicIdSchema, timestampSchema } from './primitives.ts';

/** `pending` waits for an attempt, the first or the next. The other statuses are final until a retry or a replay. */
export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
const deliveryStatusSchema = z.enum(deliveryStatuses);

/**
 * What a pending delivery waits for: `lease`, a worker has leased it and will send it; `circuit_open`, its webhook's
 * breaker is open; `schedule`, its due time; `capacity`, it is due and no worker has leased it yet.
 */
export const waitingReasons = ['lease', 'circuit_open', 'schedule', 'capacity'] as const;
export type WaitingFor = (typeof waitingReasons)[number];

/** Why an attempt did not succeed, as receivers' owners see it. */
export const attemptErrors = [
  'timeout',
  'dns_failed',
  'connection_refused',
  'connection_reset',
  'tls_failed',
  'destination_blocked',
  'redirect',
  'http_error',
  'response_invalid',
  'secret_unavailable',
] as const;
export type AttemptError = (typeof attemptErrors)[number];
const attemptErrorSchema = z.enum(attemptErrors);

/** What caused an attempt: the retry schedule, or a request for it (test, retry, replay). */
export const attemptTriggers = ['scheduled', 'manual'] as const;
export type AttemptTrigger = (typeof attemptTriggers)[number];

export const listDeliveriesQuerySchema = forwardPeriod(
  z.strictObject({
    ...pageQueryShape,
    order: orderSchema,
    webhook_id: publicIdSchema('whk').optional(),
    event_id: publicIdSchema('evt').optional(),
    event_type: repeatable(eventTypeSchema),
    status: repeatable(deliveryStatusSchema),
    since: instantSchema.optional(),
    until: instantSchema.optional(),
  }),
);
export type ListDeliveriesQuery = z.infer<typeof listDeliveriesQuerySchema>;

/** A delivery: one event on its way to one webhook, from the fan-out to success, failure or cancellation. */
export const deliverySchema = z.strictObject({
  id: publicIdSchema('dlv'),
  object: z.literal('delivery'),
  webhook_id: publicIdSchema('whk'),
  event_id: publicIdSchema('evt'),
  event_type: eventTypeSchema,
  status: deliveryStatusSchema,
  attempt_count: z.number().int(),
  max_attempts: z.number().int(),
  next_attempt_at: timestampSchema.nullable(),
  waiting_for: z.enum(waitingReasons).nullable(),
  last_status_code: z.number().int().nullable(),
  last_error: attemptErrorSchema.nullable(),
  last_duration_ms: z.number().int().nullable(),
  created_at: timestampSchema,
  completed_at: timestampSchema.nullable(),
});
export type Delivery = z.infer<typeof deliverySchema>;

/** The statuses that a replay can select. Pending deliveries will be sent anyway. */
const replayableSchema = z.enum(['failed', 'canceled', 'succeeded']);

/** POST /v1/webhooks/{id}/replay: the deliveries created from `since` on and before `until`. */
export const replayRequestSchema = forwardPeriod(
  z.strictObject({
    since: instantSchema,
    until: instantSchema.optional(),
    status: z.array(replayableSchema).min(1).max(replayableSchema.options.length).default(['failed', 'canceled']),
  }),
);
export type ReplayRequest = z.infer<typeof replayRequestSchema>;

/** How many deliveries a replay made due again; `has_more` says that there were more than one replay takes. */
export const replaySchema = z.strictObject({
  object: z.literal('replay'),
  matched: z.number().int(),
  has_more: z.boolean(),
});
export type Replay = z.infer<typeof replaySchema>;

const millisecondsSchema = z.number().nullable();

/**
 * An attempt: one HTTP request to a webhook's URL. A superseded attempt came to its end after its delivery had moved on,
 * for example because its worker was frozen and another worker sent the delivery meanwhile; it changed nothing.
 */
export const attemptSchema = z.strictObject({
  id: publicIdSchema('att'),
  number: z.number().int(),
  superseded: z.boolean(),
  trigger: z.enum(attemptTriggers),
  started_at: timestampSchema,
  duration_ms: z.number().int(),
  status_code: z.number().int().nullable(),
  error: attemptErrorSchema.nullable(),
  error_message: z.string().nullable(),
  response_body: z.string().nullable(),
  url: z.string(),
  timings: z.strictObject({
    dns_ms: millisecondsSchema,
    connect_ms: millisecondsSchema,
    tls_ms: millisecondsSchema,
    first_byte_ms: millisecondsSchema,
  }),
});
export type Attempt = z.infer<typeof attemptSchema>;

/** A delivery with its attempts (newest first) and the request as it is sent, without the signature headers. */
export const deliveryDetailSchema = deliverySchema.extend({
  attempts: z.array(attemptSchema),
  request: z.strictObject({ headers: z.record(z.string(), z.string()), body: z.string().nullable() }),
});
export type DeliveryDetail = z.infer<typeof deliveryDetailSchema>;
