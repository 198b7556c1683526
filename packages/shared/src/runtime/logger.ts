import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './settings.ts';

export type { Logger } from 'pino';

const secretPattern = /(nwk_|whsec_)[0-9A-Za-z+/=]{6,}|(Bearer +)(?!nwk_|whsec_)[\w.~+/=-]{6,}/gi;
const mayHoldSecret = /nwk_|whsec_|bearer /i;

/**
 * One JSON object per line on standard output. Call sites log selected fields, never bodies or headers; as a last
 * step every line is searched for keys, webhook secrets and bearer tokens, wherever in the text they stand.
 */
export function createLogger(service: string, level: LogLevel, destination?: DestinationStream): Logger {
  const out = destination ?? pino.destination({ dest: 1, sync: true });
  return pino(
    {
      base: { service },
      level,
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => out.write(scrubSecrets(line)) },
  );
}

/** Replaces whatever looks like an API key, a webhook secret or a bearer token; the prefix stays, to show what it was. */
export function scrubSecrets(text: string): string {
  return mayHoldSecret.test(text) ? text.replace(secretPattern, '$1$2[redacted]') : text;
}
