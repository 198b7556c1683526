import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { maxPort, parseRedisUrl, redisUrlForms } from './redis-address.ts';

function quantitySchema(units: Readonly<Record<string, number>>, message: string) {
  const pattern = new RegExp(`^(\\d{1,9})(${Object.keys(units).join('|')})$`);
  return z
    .string()
    .regex(pattern, message)
    .transform((text) => {
      const [, count, unit = ''] = pattern.exec(text) ?? [];
      return Number(count) * (units[unit] ?? 1);
    });
}

/** `250ms`, `5s`, `30m`, `24h` → milliseconds. */
export const durationSchema = quantitySchema(
  { ms: 1, s: 1_000, m: 60 * 1_000, h: 3_600 * 1_000 },
  'must be a duration such as 250ms, 5s, 30m or 24h',
);

/** `64KiB`, `4MiB`, `1GiB` → bytes. */
export const byteSizeSchema = quantitySchema(
  { KiB: 1_024, MiB: 1_024 * 1_024, GiB: 1_024 * 1_024 * 1_024 },
  'must be a size such as 64KiB, 4MiB or 1GiB',
);

export function integerSchema(min: number, max: number) {
  return z
    .string()
    .regex(/^\d{1,15}$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);
}

/** A TCP port. With 0, which tests use, the system chooses a free port. */
export const portSchema = integerSchema(0, maxPort);

/** The path of a file with certificates → the file's content, PEM. */
export const certificateFileSchema = z.string().transform((path, context) => {
  try {
    const pem = readFileSync(path, 'utf8');
    if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem;
    context.addIssue({ code: 'custom', message: 'is not a PEM file with certificates' });
  } catch {
    context.addIssue({ code: 'custom', message: 'cannot be read' });
  }
  return z.NEVER;
});

export const booleanSchema = z.enum(['true', 'false'], 'must be true or false').transform((text) => text === 'true');

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
export type LogLevel = (typeof logLevels)[number];

function urlWithScheme(schemes: readonly string[]) {
  const message = `must be a URL that begins with ${schemes.map((scheme) => `${scheme}//`).join(' or ')}`;
  return z.string().refine((text) => URL.canParse(text) && schemes.includes(new URL(text).protocol), message);
}

export const databaseUrlSchema = urlWithScheme(['postgres:', 'postgresql:']);

export const ledgerSettings = {
  DATABASE_URL: databaseUrlSchema,
  DATABASE_DIRECT_URL: databaseUrlSchema.optional(),
  DATABASE_PREPARED_STATEMENTS: booleanSchema.prefault('true'),
};

export const commonSettings = {
  ...ledgerSettings,
  REDIS_URL: z
    .string()
    .refine((text) => parseRedisUrl(text) !== undefined, redisUrlForms)
    .optional(),
  LOG_LEVEL: z.enum(logLevels, `must be one of ${logLevels.join(', ')}`).default('info'),
  BUILD_COMMIT: z
    .string()
    .regex(/^[0-9a-f]{7,40}$/, 'must be the hash of a commit')
    .optional(),
};

/** Settings of all processes that a file may also provide, through the variable `NAME_FILE`. */
export const commonSecrets = ['DATABASE_URL', 'DATABASE_DIRECT_URL', 'REDIS_URL', 'SECRETS_ENCRYPTION_KEYS'];

export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
}

/** All settings of the product. A process needs them to ignore another process's settings without a warning. */
export const settingNames = [
  'CONSOLE_PUBLIC_URL',
  'CONSOLE_SIGN_IN_URL',
  'CONSOLE_BRAND_FILE',
  'CONSOLE_RATE_LIMIT',
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_PREPARED_STATEMENTS',
  'DATABASE_REPLICA_URL',
  'REDIS_URL',
  'SECRETS_ENCRYPTION_KEYS',
  'LOG_LEVEL',
  'BUILD_COMMIT',
  'OTEL_SDK_DISABLED',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_PROTOCOL',
  'OTEL_EXPORTER_OTLP_TIMEOUT',
  'OTEL_SERVICE_NAME',
  'OTEL_RESOURCE_ATTRIBUTES',
  'OTEL_TRACES_SAMPLER',
  'OTEL_TRACES_SAMPLER_ARG',
  'API_PUBLIC_URL',
  'API_HOST',
  'API_PORT',
  'INTERNAL_HOST',
  'INTERNAL_PORT',
  'INTERNAL_API_SECRET',
  'INTERNAL_AUTHORIZE_SECRET',
  'INTERNAL_EVENTS_SECRET',
  'INTERNAL_QUEUE_BOARD',
  'API_TRUSTED_PROXIES',
  'API_RATE_LIMITS',
  'API_AUTH_FAILURES',
  'API_UPSTREAMS',
  'API_UPSTREAM_TIMEOUT',
  'API_UPSTREAM_IDLE_TIMEOUT',
  'API_UPSTREAM_CONCURRENCY',
  'API_UPSTREAM_MAX_BODY',
  'API_UPSTREAM_CA_FILE',
  'IDENTITY_SIGNING_KEYS',
  'WORKER_HOST',
  'WORKER_PORT',
  'WORKER_CONCURRENCY',
  'WORKER_BODY_MEMORY',
  'WORKER_START_WITHIN',
  'WORKER_LEASE_MARGIN',
  'WEBHOOK_TIMEOUT_MS',
  'WEBHOOK_RETRY_SCHEDULE',
  'WEBHOOK_RETRY_JITTER',
  'WEBHOOK_ENDPOINT_CONCURRENCY',
  'WEBHOOK_ALLOWED_PRIVATE_CIDRS',
  'WEBHOOK_SOURCE_ADDRESSES',
  'WEBHOOK_CA_FILE',
  'WEBHOOK_TRACEPARENT',
  'RETENTION_BODIES',
  'RETENTION_HISTORY',
  'RETENTION_AUDIT',
] as const;
