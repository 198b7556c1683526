import { type DestinationStream, type Logger, pino, stdTimeFunctions } from 'pino';
import type { LogLevel } from './settings.ts';

export type { Logger } from 'pino';

const secretPattern = /(nwk_|whsec_)[0-9A-Za-z+/=]{6,}/g;

/**
 * One JSON object per line on standard output. Call sites log selected fields, never bodies or headers; as a last
 * step every line is searched for keys and webhook secrets, wherever in the text they stand.
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

/** Replaces whatever looks like an API key or a webhook secret; its prefix stays, so that one sees what it was. */
export function scrubSecrets(text: string): string {
  return text.includes('nwk_') || text.includes('whsec_') ? text.replace(secretPattern, '$1[redacted]') : text;
}
