import { type DestinationStream, pino, stdTimeFunctions } from 'pino';
import type { IsUuid, PublicId } from './ids.ts';
import { openStandardOutput } from './log-output.ts';
import type { LogLevel } from './settings.ts';

/** Writes log lines. Call sites log selected fields, never bodies or headers. */
export interface Logger extends Readonly<Record<Exclude<LogLevel, 'silent'>, LogMethod>> {
  isLevelEnabled(level: LogLevel): boolean;
}

/** Ids in logs are public, so that they can be compared with what customers see; a UUID does not compile. */
interface LogFields {
  attempt_id?: PublicId<'att'>;
  delivery_id?: PublicId<'dlv'>;
  event_id?: PublicId<'evt'>;
  event_ids?: readonly PublicId<'evt'>[];
  key_id?: PublicId<'key'>;
  organization_id?: PublicId<'org'>;
  webhook_id?: PublicId<'whk'>;
  [name: string]: unknown;
}

type WithoutUuids<Fields> = {
  [Name in keyof Fields]: IsUuid<NonNullable<Fields[Name]>> extends true ? never : Fields[Name];
};

interface LogMethod {
  <Fields extends LogFields>(fields: Fields & WithoutUuids<Fields>, message: string): void;
  (message: string): void;
}

/** `eyJ` is how every JWT begins: `{"` in base64. */
const secretPattern =
  /(nwk_|whsec_)[0-9A-Za-z+/=]{6,}|(Bearer +)(?!nwk_|whsec_)[\w.~+/=-]{6,}|(eyJ)[\w-]{17,}\.[\w-]{10,}\.[\w-]*/gi;
const mayHoldSecret = /nwk_|whsec_|bearer |eyJ/i;

/**
 * One JSON object per line. Call sites log selected fields, never bodies or headers; as a last step every line is
 * searched for keys, webhook secrets, bearer tokens and JWTs, wherever in the text they stand.
 *
 * @param destination by default standard output, which never makes the process wait: see {@link openStandardOutput}
 */
export function createLogger(service: string, level: LogLevel, destination?: DestinationStream): Logger {
  const out =
    destination ?? openStandardOutput((dropped) => log.warn({ log_lines_dropped: dropped }, 'log lines dropped'));
  const log = pino(
    {
      base: { service },
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: describeError },
    },
    { write: (line: string) => out.write(scrubSecrets(line)) },
  );
  return log;
}

/**
 * An error in plain values. Libraries attach whole objects to their errors: pg's pool attaches the client, 9 kB with the
 * key that cancels its statements.
 */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const plain = Object.entries(pino.stdSerializers.err(error)).filter(([, value]) => !isObject(value));
  const all = error instanceof AggregateError ? { errors: error.errors.map(describeError) } : {};
  return { ...Object.fromEntries(plain), ...all };
}

function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

/** Replaces whatever looks like an API key, a webhook secret, a bearer token or a JWT; the prefix stays, to show what it was. */
export function scrubSecrets(text: string): string {
  return mayHoldSecret.test(text) ? text.replace(secretPattern, '$1$2$3[redacted]') : text;
}
