import {
  type EventType,
  eventBodyExample,
  eventBodySchema,
  eventTypeNames,
  eventTypes,
  exampleId,
} from '@enterprise-api/shared/contracts';
import { version } from '@enterprise-api/shared/runtime';
import { z } from 'zod';
import type { Schemas } from './schemas.ts';
import type { JsonObject, PathItem } from './types.ts';

export function webhookEntries(schemas: Schemas): Record<string, PathItem> {
  schemas.of(anyBody, 'output');
  return Object.fromEntries(eventTypeNames.map((type) => [type, { post: deliveryOf(type, schemas) }]));
}

/** `consultation.completed` → `ConsultationCompletedEvent` */
function eventSchemaName(type: EventType): string {
  return `${type.replace(/(?:^|[._])([a-z])/g, (_, letter: string) => letter.toUpperCase())}Event`;
}

const bodyOf = Object.fromEntries(
  eventTypeNames.map((type) => {
    const { description } = eventTypes[type];
    const named = { id: eventSchemaName(type), description, examples: [eventBodyExample(type)] };
    return [type, eventBodySchema(type).meta(named)] as const;
  }),
) as Record<EventType, ReturnType<typeof eventBodySchema>>;

const anyBody = z.union(Object.values(bodyOf)).meta({ id: 'EventBody', description: 'The body of a delivery.' });

function deliveryOf(type: EventType, schemas: Schemas): JsonObject {
  const { description } = eventTypes[type];
  return {
    operationId: `receive${eventSchemaName(type).replace(/Event$/, '')}`,
    tags: ['Deliveries'],
    summary: description.replace(/\.$/, ''),
    description: 'Verify a signature over the raw body, answer 2xx at once, and work afterwards.',
    security: [],
    parameters: headers(type),
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemas.of(bodyOf[type], 'output'), example: eventBodyExample(type) } },
    },
    responses: {
      '2XX': { description: 'Delivered. We store the first 4 KiB of the body, which has no effect.' },
      410: { description: 'The endpoint is gone: the webhook is disabled.' },
      default: { description: 'Sent again by the retry schedule, or when `Retry-After` says.' },
    },
  };
}

/** The worker creates these headers with `deliveryHeaders`, and adds its signatures. */
function headers(type: EventType): JsonObject[] {
  const all: [name: string, description: string, example: string][] = [
    ['User-Agent', 'The product and its version.', `enterprise-api-webhooks/${version}`],
    [
      'X-Service-Signature',
      'HMAC-SHA256 of the raw body with the secret of the webhook, in lowercase hex.',
      'f'.repeat(64),
    ],
    ['X-Service-Event', 'The type of the event.', type],
    ['X-Service-Event-Id', 'The id of the event, the same in each of its deliveries.', exampleId('evt')],
    ['X-Service-Delivery-Id', 'The id of the delivery.', exampleId('dlv')],
    ['X-Service-Attempt', 'Counts the attempts of the delivery, from 1.', '1'],
    ['webhook-id', 'Standard Webhooks: the id of the event.', exampleId('evt')],
    ['webhook-timestamp', 'Standard Webhooks: when the attempt was signed, in seconds since 1970.', '1795244400'],
    [
      'webhook-signature',
      'Standard Webhooks: `v1,` and a signature in base64; two of them during a rotation.',
      'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    ],
  ];
  const test = ['X-Service-Test', '`true` in a test; other deliveries have no such header.', 'true'] as const;
  return [...all, test].map(([name, description, example]) => ({
    name,
    in: 'header',
    required: name !== 'X-Service-Test',
    description,
    schema: { type: 'string' },
    example,
  }));
}
