import {
  booleanSchema,
  byteSizeSchema,
  certificateFileSchema,
  commonSecrets,
  commonSettings,
  deliverySettings,
  durationSchema,
  type Environment,
  historyProblems,
  integerSchema,
  parseEnvironment,
  portSchema,
  settingNames,
} from '@enterprise-api/shared/runtime';
import { addressRangesSetting, keyRingSetting } from '@enterprise-api/shared/security';
import { tracingSecrets, tracingSettings } from '@enterprise-api/shared/tracing';
import { z } from 'zod';
import { retentionSettings } from './retention/settings.ts';

/** Stopping may take this much longer than the longest attempt, to record outcomes. */
const stopMarginMs = 5_000;

/** With less memory, the worker would send a few large events one after the other. */
const leastBodyMemory = 1024 ** 2;
const bodyMemory = byteSizeSchema.refine((bytes) => bytes >= leastBodyMemory, 'must be at least 1MiB');

const settings = {
  ...commonSettings,
  SECRETS_ENCRYPTION_KEYS: keyRingSetting,
  WORKER_HOST: z.string().default('127.0.0.1'),
  WORKER_PORT: portSchema.prefault('3002'),
  WORKER_CONCURRENCY: integerSchema(1, 10_000).prefault('100'),
  WORKER_BODY_MEMORY: bodyMemory.prefault('128MiB'),
  WORKER_START_WITHIN: durationSchema.prefault('10s'),
  WORKER_LEASE_MARGIN: durationSchema.prefault('30s'),
  ...deliverySettings,
  WEBHOOK_ENDPOINT_CONCURRENCY: integerSchema(1, 1_000).prefault('20'),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: addressRangesSetting.default([]),
  WEBHOOK_CA_FILE: certificateFileSchema.optional(),
  WEBHOOK_TRACEPARENT: booleanSchema.prefault('false'),
  ...retentionSettings,
  ...tracingSettings,
};

export function parseConfig(environment: Environment) {
  return parseEnvironment(
    settings,
    environment,
    { secrets: [...commonSecrets, ...tracingSecrets], known: settingNames },
    (parsed) => {
      const problems = historyProblems(parsed);
      if (parsed.WORKER_START_WITHIN <= parsed.WORKER_LEASE_MARGIN / 2) return problems;
      return [
        ...problems,
        'WORKER_START_WITHIN: must be at most half of WORKER_LEASE_MARGIN: otherwise an attempt could outlast its lease, and another worker would send the delivery too',
      ];
    },
  );
}

export type Config = z.output<z.ZodObject<typeof settings>>;

/** Milliseconds in which no other worker sends a delivery that this worker has leased. */
export function leaseMs(config: Pick<Config, 'WEBHOOK_TIMEOUT_MS' | 'WORKER_LEASE_MARGIN'>): number {
  return config.WEBHOOK_TIMEOUT_MS + config.WORKER_LEASE_MARGIN;
}

/** Milliseconds from SIGTERM to the exit: the longest attempt, and time to record its outcome. */
export function stopWithinMs(config: Pick<Config, 'WEBHOOK_TIMEOUT_MS'>): number {
  return config.WEBHOOK_TIMEOUT_MS + stopMarginMs;
}
