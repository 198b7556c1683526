import { z } from 'zod';
import { deliveryPolicyExample } from './delivery-policy.ts';
import { eventTypeSchema, subjectFilterSchema, subjectSchema } from './event-types.ts';
import { maxPageSize, orderSchema, pageQueryShape, repeatable, searchableListSchema } from './pagination.ts';
import { exampleId, forwardPeriod, periodShape, publicIdSchema, timestampSchema } from './primitives.ts';

export const deliveryStatuses = ['pending', 'succeeded', 'failed', 'canceled'] as const;
export type DeliveryStatus = (typeof deliveryStatuses)[number];
export const deliveryStatusSchema = z.enum(deliveryStatuses).meta({
  id: 'DeliveryStatus',
  description: '`pending` waits for an attempt, the first or the next. The others are final until a retry or a replay.',
  examples: ['succeeded'],
});

export type CanceledReason = 'webhook_disabled' | 'webhook_deleted' | 'organization_closed';

/**
 * Why a pending delivery waits: the first reason that holds. `lease`: a worker has leased it and will send it.
 * `paused`: its webhook or all sending is paused. `receiver`: its receiver asked to wait. `circuit_open`: the circuit
 * breaker of its webhook is open. `schedule`: it is not due yet. `rate_limit`: its webhook is at one of its limits.
 * `capacity`: it is due, but no worker has leased it yet.
 */
export const waitingReasons = [
  'lease',
  'paused',
  'receiver',
  'circuit_open',
  'schedule',
  'rate_limit',
  'capacity',
] as const;
export const waitingReasonSchema = z.enum(waitingReasons).meta({
  id: 'WaitingReason',
  description:
    'What a pending delivery waits for. `lease`: a worker has leased it and will send it. `paused`: somebody paused its webhook, or all sending. `receiver`: its receiver asked with `Retry-After` to wait. `circuit_open`: its webhook keeps failing. `schedule`: it is not due yet. `rate_limit`: its webhook is at its `rate_limit_per_second` or `max_in_flight`. `capacity`: it is due and waits for a worker.',
  examples: ['schedule'],
});
export type WaitingFor = (typeof waitingReasons)[number];

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
export const attemptErrorSchema = z.enum(attemptErrors).meta({
  id: 'AttemptError',
  description: 'Why an attempt did not succeed.',
  examples: ['timeout'],
});

/**
 * The cause of an attempt: the retry schedule, a request for a redelivery (test, retry, replay), or the probe of a
 * webhook that was disabled.
 */
export const attemptTriggers = ['scheduled', 'manual', 'probe'] as const;

export const listDeliveriesQuerySchema = forwardPeriod(
  z.strictObject({
    ...pageQueryShape,
    order: orderSchema,
    id: repeatable(publicIdSchema('dlv'), maxPageSize).describe('Only these deliveries.'),
    webhook_id: publicIdSchema('whk').optional(),
    event_id: publicIdSchema('evt').optional(),
    event_type: repeatable(eventTypeSchema).describe(
      'With `webhook_id` or `status` a search, unless the page is read within half a second.',
    ),
    subject: subjectFilterSchema,
    status: repeatable(deliveryStatusSchema),
    last_status_code: z
      .string()
      .regex(/^[1-5](\d\d|xx)$/, 'must be a status like 503 or a class like 5xx')
      .optional()
      .describe('Only if the last answer had this status (`503`, `5xx`). A search, because no index finds it.'),
    last_error: repeatable(attemptErrorSchema).describe('Only deliveries with this `last_error`. Also a search.'),
    ...periodShape,
  }),
);
export type ListDeliveriesQuery = z.infer<typeof listDeliveriesQuerySchema>;

const deliveryFields = z.strictObject({
  id: publicIdSchema('dlv'),
  object: z.literal('delivery'),
  webhook_id: publicIdSchema('whk'),
  event_id: publicIdSchema('evt'),
  event_type: eventTypeSchema.describe('The type of the event.'),
  subject: subjectSchema,
  status: deliveryStatusSchema.describe('The state of the delivery.'),
  canceled_reason: z
    .string()
    .nullable()
    .describe(
      'Why it was canceled: `webhook_disabled` (by its owner, automatically or by a 410), `webhook_deleted`, `replay_canceled`, `probe_canceled`, `erased` or `organization_closed`. Expect further reasons. Null unless it is canceled.',
    ),
  attempt_count: z.number().int().describe('How many attempts were made.'),
  max_attempts: z.number().int().describe('How many attempts the retry schedule allows.'),
  next_attempt_at: timestampSchema.nullable().describe('When the next attempt is due; null when there will be none.'),
  waiting_for: waitingReasonSchema.nullable().describe('What it waits for; null unless it is pending.'),
  last_status_code: z.number().int().nullable().describe('The status of the last answer; null if there was none.'),
  last_error: attemptErrorSchema.nullable().describe('Why the last attempt failed; null if it succeeded.'),
  last_duration_ms: z.number().int().nullable().describe('How long the last attempt took, in milliseconds.'),
  test: z.boolean().describe('Whether its event is a test, which does not affect the health of the webhook.'),
  created_at: timestampSchema.describe('When the delivery was created.'),
  completed_at: timestampSchema.nullable().describe('When it succeeded, failed or was canceled.'),
});

export const attemptExample = {
  id: exampleId('att'),
  number: 1,
  superseded: false,
  trigger: 'scheduled',
  started_at: '2026-11-21T07:00:00.008Z',
  duration_ms: 42,
  status_code: 200,
  error: null,
  error_message: null,
  response_body: 'ok',
  response_headers: null,
  remote_address: null,
  url: 'https://hooks.example.com/in',
  timings: { dns_ms: 3, connect_ms: 9, tls_ms: 14, first_byte_ms: 41 },
};

export const deliveryExample = {
  id: exampleId('dlv'),
  object: 'delivery',
  webhook_id: exampleId('whk'),
  event_id: exampleId('evt'),
  event_type: 'consultation.completed',
  subject: 'con_8f14e45f',
  status: 'succeeded',
  canceled_reason: null,
  attempt_count: 1,
  max_attempts: deliveryPolicyExample.max_attempts,
  next_attempt_at: null,
  waiting_for: null,
  last_status_code: attemptExample.status_code,
  last_error: null,
  last_duration_ms: attemptExample.duration_ms,
  test: false,
  created_at: '2026-11-21T07:00:00.000Z',
  completed_at: '2026-11-21T07:00:00.050Z',
};

export const deliverySchema = deliveryFields.meta({
  id: 'Delivery',
  description: 'One event on its way to one webhook.',
  examples: [deliveryExample],
});
export type Delivery = z.infer<typeof deliverySchema>;

export const deliveryListSchema = searchableListSchema(deliverySchema);

const millisecondsSchema = z.number().nullable();

/**
 * One HTTP request to a webhook's URL. A superseded attempt ended after its delivery had changed, so its outcome was
 * not applied. For example, another worker sent the delivery while the worker of this attempt was frozen.
 */
export const attemptSchema = z
  .strictObject({
    id: publicIdSchema('att'),
    number: z.number().int().describe('Counts the attempts of the delivery, from 1.'),
    superseded: z
      .boolean()
      .describe('Whether the delivery had changed before the attempt ended: its outcome then has no effect.'),
    trigger: z
      .enum(attemptTriggers)
      .describe(
        'What caused the attempt: the retry schedule (`scheduled`), a test, a retry or a replay (`manual`), or `auto_recover` (`probe`).',
      ),
    started_at: timestampSchema.describe('When the attempt began.'),
    duration_ms: z.number().int().describe('How long it took, in milliseconds.'),
    status_code: z.number().int().nullable().describe('The status of the answer; null if there was none.'),
    error: attemptErrorSchema.nullable().describe('Why the attempt failed; null if it succeeded.'),
    error_message: z.string().nullable().describe('The cause of the failure, in words, for the owner of the receiver.'),
    response_body: z.string().nullable().describe('The first 4 KiB of a body that is text.'),
    response_headers: z
      .record(z.string(), z.string())
      .nullable()
      .describe(
        'Of the answer to a failed attempt: `content-type`, `content-length`, `date`, `server`, `retry-after`, `location` (without its query), `www-authenticate` and `x-request-id`, at most 2 KiB. Null if the attempt succeeded or got no answer.',
      ),
    remote_address: z
      .string()
      .nullable()
      .describe('The IP address of the receiver, if the attempt failed after it connected.'),
    url: z.string().nullable().describe('Where the request went; null if the organization is closed.'),
    timings: z
      .strictObject({
        dns_ms: millisecondsSchema.describe('Resolving the host name.'),
        connect_ms: millisecondsSchema.describe('Connecting, without TLS.'),
        tls_ms: millisecondsSchema.describe('The TLS handshake.'),
        first_byte_ms: millisecondsSchema.describe('From sending the request to the first byte of the answer.'),
      })
      .describe('How long each part took, in milliseconds; null for parts that a reused connection skips.'),
  })
  .meta({ id: 'Attempt', description: "One HTTP request to a webhook's URL.", examples: [attemptExample] });
export type Attempt = z.infer<typeof attemptSchema>;

const requestExample = {
  headers: {
    'Content-Type': 'application/json',
    'X-Service-Event': 'consultation.completed',
    'X-Service-Attempt': '1',
  },
  body: '{"id":"evt_…","type":"consultation.completed","timestamp":"…","organization_id":"org_…","data":{…}}',
};

export const deliveryDetailSchema = deliveryFields
  .extend({
    attempts: z.array(attemptSchema).describe('The attempts, the newest first.'),
    request: z
      .strictObject({
        headers: z.record(z.string(), z.string()).describe('The headers, without the signatures.'),
        body: z.string().nullable().describe('The exact text; null once its event is past retention.'),
      })
      .describe('The request as it is sent, without its signatures.'),
  })
  .meta({
    id: 'DeliveryDetail',
    description: 'A delivery with its attempts and its request.',
    examples: [{ ...deliveryExample, attempts: [attemptExample], request: requestExample }],
  });
export type DeliveryDetail = z.infer<typeof deliveryDetailSchema>;
