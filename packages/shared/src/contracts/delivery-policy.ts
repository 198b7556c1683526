import { z } from 'zod';
import { failingPolicy } from './webhooks.ts';

const day = 86_400_000;

/** The period that applies to the caller's organization. */
export const bodyRetentionSchema = z
  .int()
  .nullable()
  .describe('How long the data of events and the answers of receivers are stored; null: for ever.');

/** @param own the organization's own period; null = the setting applies */
export function effectiveBodyRetention(own: number | null, setting: number | null): number | null {
  return own === null || setting === null ? (own ?? setting) : Math.min(own, setting);
}

export const deliveryPolicyExample = deliveryPolicyOf({
  WEBHOOK_TIMEOUT_MS: 15_000,
  WEBHOOK_RETRY_SCHEDULE: [1_000, 60_000, 3_600_000],
  WEBHOOK_RETRY_JITTER: 0.2,
  RETENTION_BODIES: 30 * day,
  RETENTION_HISTORY: 90 * day,
});

/** The numbers that receivers must know. Settings determine most of them. Reference pages show the same values. */
export const deliveryPolicySchema = z
  .strictObject({
    object: z.literal('delivery_policy'),
    timeout_ms: z.int().describe('The time of one attempt: DNS, connection, TLS, request and answer.'),
    schedule_ms: z.array(z.int()).describe('The delays between the attempts of a delivery.'),
    jitter: z.number().describe('Each delay is multiplied by a random number between 1 and 1 + `jitter`.'),
    max_attempts: z.int().describe('The number of attempts: one more than there are delays.'),
    disable_after_ms: z.int().describe('A webhook is disabled as `failing` after this time without a success.'),
    disable_after_attempts: z
      .int()
      .describe('A webhook is disabled as `failing` only after this many failed attempts.'),
    body_retention_seconds: bodyRetentionSchema,
    history_retention_seconds: z
      .int()
      .nullable()
      .describe('How long events, deliveries and attempts are stored; null: for ever.'),
  })
  .meta({
    id: 'DeliveryPolicy',
    description: 'How often and how long a delivery is tried, and how long its history is stored.',
    examples: [deliveryPolicyExample],
  });
export type DeliveryPolicy = z.infer<typeof deliveryPolicySchema>;

/** Settings by their names. Periods are in milliseconds; infinite = forever. */
interface PolicySettings {
  WEBHOOK_TIMEOUT_MS: number;
  WEBHOOK_RETRY_SCHEDULE: number[];
  WEBHOOK_RETRY_JITTER: number;
  RETENTION_BODIES: number;
  RETENTION_HISTORY: number;
}

export function deliveryPolicyOf(settings: PolicySettings) {
  return {
    object: 'delivery_policy' as const,
    timeout_ms: settings.WEBHOOK_TIMEOUT_MS,
    schedule_ms: settings.WEBHOOK_RETRY_SCHEDULE,
    jitter: settings.WEBHOOK_RETRY_JITTER,
    max_attempts: settings.WEBHOOK_RETRY_SCHEDULE.length + 1,
    disable_after_ms: failingPolicy.afterDays * day,
    disable_after_attempts: failingPolicy.failedAttempts,
    body_retention_seconds: wholeSeconds(settings.RETENTION_BODIES),
    history_retention_seconds: wholeSeconds(settings.RETENTION_HISTORY),
  };
}

function wholeSeconds(ms: number): number | null {
  return Number.isFinite(ms) ? Math.floor(ms / 1_000) : null;
}

/** GET /v1/webhooks/source-addresses */
export const sourceAddressesSchema = z
  .strictObject({
    object: z.literal('source_addresses'),
    addresses: z
      .array(z.string())
      .nullable()
      .describe('The addresses and CIDRs from which deliveries come; null if the operator has named none.'),
  })
  .meta({
    id: 'SourceAddresses',
    description: 'The addresses from which deliveries come, for the firewall of a receiver.',
    examples: [{ object: 'source_addresses', addresses: ['203.0.113.7', '198.51.100.0/28'] }],
  });
