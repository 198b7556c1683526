import { durationSchema } from '@enterprise-api/shared/runtime';
import { z } from 'zod';

/** Parses `720h` to milliseconds. `0`, with or without a unit, means forever. */
const periodSchema = z
  .string()
  .transform((text) => (text === '0' ? '0h' : text))
  .pipe(durationSchema)
  .transform((ms) => (ms === 0 ? Number.POSITIVE_INFINITY : ms));

export const retentionSettings = {
  RETENTION_BODIES: periodSchema.prefault('720h'),
  RETENTION_HISTORY: periodSchema.prefault('2160h'),
  RETENTION_AUDIT: periodSchema.prefault('9600h'),
};

/** Milliseconds; infinite = forever. */
export type RetentionPeriods = z.output<z.ZodObject<typeof retentionSettings>>;

export function retentionProblems({ RETENTION_BODIES, RETENTION_HISTORY }: RetentionPeriods): string[] {
  if (RETENTION_BODIES <= RETENTION_HISTORY) return [];
  return [
    'RETENTION_BODIES: must not be above RETENTION_HISTORY (0 is for ever): the body of an event goes with the event at the latest',
  ];
}
