import { type ApiPlan, defaultRateLimits, deliveryPolicyOf } from '@enterprise-api/shared/contracts';
import { ledgerAddress } from '@enterprise-api/shared/ledger';
import {
  booleanSchema,
  byteSizeSchema,
  certificateFileSchema,
  commaList,
  commonSecrets,
  commonSettings,
  databaseUrlSchema,
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
import { tracingConfig, tracingSecrets, tracingSettings } from '@enterprise-api/shared/tracing';
import { z } from 'zod';
import type { ConsoleSettings } from './auth/console-judge.ts';
import { brandFileSchema } from './console/brand.ts';
import { upstreamsSetting } from './forwarding/upstreams.ts';

export type ApiConfig = ReturnType<typeof toConfig>;

export type ParsedConfig = { ok: true; config: ApiConfig; warnings: string[] } | { ok: false; problems: string[] };

export const minSecretLength = 32;

const internalSecretsSchema = z
  .string()
  .transform(commaList)
  .refine(
    (secrets) => secrets.length > 0 && secrets.every((secret) => secret.length >= minSecretLength),
    `each secret must have at least ${minSecretLength} characters`,
  )
  .refine(
    // A bearer token cannot contain other characters. If a secret contained them, the listener would start but refuse
    // every request.
    (secrets) => secrets.every((secret) => /^[!-~]*$/.test(secret)),
    'each secret must consist of visible ASCII characters without spaces',
  );

const rateLimitsSchema = z.string().transform((text, context) => {
  const limits = { ...defaultRateLimits };
  const seen = new Set<string>();
  for (const entry of commaList(text)) {
    const [, plan = '', limit = ''] = /^([a-z]+)=([1-9]\d{0,8})$/.exec(entry) ?? [];
    if (!Object.hasOwn(limits, plan) || seen.has(plan)) {
      context.addIssue({
        code: 'custom',
        message:
          'must be a comma-separated list such as pro=300,business=1200,enterprise=6000, with each plan at most once',
      });
      return z.NEVER;
    }
    seen.add(plan);
    limits[plan as ApiPlan] = Number(limit);
  }
  return limits;
});

const publicUrlSchema = z.string().transform((text, context) => {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && [url.origin, `${url.origin}/`].includes(text))
    return url.origin;
  context.addIssue({ code: 'custom', message: 'must be an origin such as https://api.example.com' });
  return z.NEVER;
});

const consoleUrlSchema = z.string().transform((text, context) => {
  const url = URL.parse(text);
  const isLoopback = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '');
  const isOrigin = url !== null && [url.origin, `${url.origin}/`].includes(text);
  if (isOrigin && (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback))) return url.origin;
  context.addIssue({ code: 'custom', message: 'must be an https origin such as https://console.example.com' });
  return z.NEVER;
});

/** Node.js timers cannot represent 25 days. */
const maxWaitMs = 24 * 86_400_000;
const waitSchema = durationSchema.refine((ms) => ms > 0 && ms <= maxWaitMs, 'must be more than 0, and at most 24 days');

const settings = {
  ...commonSettings,
  DATABASE_REPLICA_URL: databaseUrlSchema.optional(),
  SECRETS_ENCRYPTION_KEYS: keyRingSetting,
  API_PUBLIC_URL: publicUrlSchema.optional(),
  CONSOLE_PUBLIC_URL: consoleUrlSchema.optional(),
  CONSOLE_SIGN_IN_URL: z.url({ protocol: /^https?$/, error: 'must be a URL' }).optional(),
  CONSOLE_BRAND_FILE: brandFileSchema.optional(),
  CONSOLE_RATE_LIMIT: integerSchema(1, 1_000_000).prefault('600'),
  API_HOST: z.string().default('0.0.0.0'),
  API_PORT: portSchema.default(3000),
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  INTERNAL_PORT: portSchema.default(3001),
  INTERNAL_API_SECRET: internalSecretsSchema,
  INTERNAL_AUTHORIZE_SECRET: internalSecretsSchema.default([]),
  INTERNAL_EVENTS_SECRET: internalSecretsSchema.default([]),
  INTERNAL_QUEUE_BOARD: booleanSchema.prefault('false'),
  API_TRUSTED_PROXIES: addressRangesSetting.default([]),
  API_RATE_LIMITS: rateLimitsSchema.default(defaultRateLimits),
  API_AUTH_FAILURES: integerSchema(1, 1_000_000).default(600),
  API_UPSTREAMS: upstreamsSetting.prefault(''),
  API_UPSTREAM_TIMEOUT: waitSchema.prefault('60s'),
  API_UPSTREAM_IDLE_TIMEOUT: waitSchema.prefault('60s'),
  API_UPSTREAM_CONCURRENCY: integerSchema(1, 1_000_000).prefault('100'),
  API_UPSTREAM_MAX_BODY: byteSizeSchema.prefault('4MiB'),
  API_UPSTREAM_CA_FILE: certificateFileSchema.optional(),
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: addressRangesSetting.default([]),
  WEBHOOK_SOURCE_ADDRESSES: addressRangesSetting.optional(),
  ...deliverySettings,
  IDENTITY_SIGNING_KEYS: keyRingSetting.optional(),
  ...tracingSettings,
};
type Settings = z.output<z.ZodObject<typeof settings>>;

export function parseConfig(environment: Environment): ParsedConfig {
  const rules = {
    secrets: [
      ...commonSecrets,
      'DATABASE_REPLICA_URL',
      ...internalSecretNames,
      'IDENTITY_SIGNING_KEYS',
      ...tracingSecrets,
    ],
    known: settingNames,
  };
  const parsed = parseEnvironment(settings, environment, rules, (values) => [
    ...samePortProblems(values),
    ...sameSecretProblems(values),
    ...historyProblems(values),
  ]);
  if (!parsed.ok) return parsed;
  return { ok: true, config: toConfig(parsed.settings), warnings: parsed.warnings };
}

function samePortProblems(values: Settings): string[] {
  const samePort = values.API_PORT !== 0 && values.API_PORT === values.INTERNAL_PORT;
  const hosts = [values.API_HOST, values.INTERNAL_HOST];
  const overlap = hosts[0] === hosts[1] || hosts.some((host) => host === '0.0.0.0' || host === '::');
  return samePort && overlap ? ['INTERNAL_PORT: must differ from API_PORT: the internal listener is not public'] : [];
}

/** The settings with secrets of the internal listener, most powerful first. */
const internalSecretNames = ['INTERNAL_API_SECRET', 'INTERNAL_AUTHORIZE_SECRET', 'INTERNAL_EVENTS_SECRET'] as const;

/** Refuses a secret that appears in two settings, because its holder would get more access than intended. */
function sameSecretProblems(values: Settings): string[] {
  return internalSecretNames.flatMap((name, index) =>
    internalSecretNames
      .slice(0, index)
      .filter((other) => values[other].some((secret) => values[name].includes(secret)))
      .map((other) => `${name}: must differ from ${other}: a shared secret would open both`),
  );
}

function toConfig(values: Settings) {
  return {
    ledger: ledgerAddress(values),
    replicaUrl: values.DATABASE_REPLICA_URL,
    redisUrl: values.REDIS_URL,
    keyRing: values.SECRETS_ENCRYPTION_KEYS,
    /** The origin that customers use. The reference pages show it. */
    publicUrl: values.API_PUBLIC_URL,
    /** Undefined: the console is off. */
    console: consoleSettings(values),
    public: { host: values.API_HOST, port: values.API_PORT },
    internal: { host: values.INTERNAL_HOST, port: values.INTERNAL_PORT },
    /** The internal listener accepts each of these secrets; several exist during a rotation. */
    internalSecrets: values.INTERNAL_API_SECRET,
    /** Accepted for forward authentication only. */
    authorizeSecrets: values.INTERNAL_AUTHORIZE_SECRET,
    /** Accepted for emitting events only. */
    eventsSecrets: values.INTERNAL_EVENTS_SECRET,
    queueBoard: values.INTERNAL_QUEUE_BOARD,
    trustedProxies: values.API_TRUSTED_PROXIES,
    /** Requests per minute and organization. */
    rateLimits: values.API_RATE_LIMITS,
    /** Counted for each client address. */
    authFailuresPerMinute: values.API_AUTH_FAILURES,
    upstreams: values.API_UPSTREAMS,
    forwardingLimits: {
      timeoutMs: values.API_UPSTREAM_TIMEOUT,
      idleTimeoutMs: values.API_UPSTREAM_IDLE_TIMEOUT,
      concurrency: values.API_UPSTREAM_CONCURRENCY,
      maxBodyBytes: values.API_UPSTREAM_MAX_BODY,
    },
    upstreamCa: values.API_UPSTREAM_CA_FILE,
    allowedPrivateCidrs: values.WEBHOOK_ALLOWED_PRIVATE_CIDRS,
    /** Workers apply these settings; the API and its pages show them to customers. */
    deliveryPolicy: deliveryPolicyOf(values),
    /** Null if the operator has named no addresses. */
    sourceAddresses: values.WEBHOOK_SOURCE_ADDRESSES ?? null,
    identitySigningKeys: values.IDENTITY_SIGNING_KEYS,
    logLevel: values.LOG_LEVEL,
    buildCommit: values.BUILD_COMMIT,
    tracing: tracingConfig(values),
  };
}

function consoleSettings(values: Settings): ConsoleSettings | undefined {
  const publicUrl = values.CONSOLE_PUBLIC_URL;
  if (publicUrl === undefined) return undefined;
  const [signInUrl, brand] = [values.CONSOLE_SIGN_IN_URL ?? null, values.CONSOLE_BRAND_FILE ?? null];
  return { publicUrl, signInUrl, brand, rateLimit: values.CONSOLE_RATE_LIMIT };
}
