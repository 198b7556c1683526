import { z } from 'zod';
import { commaList, durationSchema, integerSchema } from './settings.ts';

const schedule = z.string().transform((text, context) => {
  const delays = commaList(text).map((entry) => durationSchema.safeParse(entry));
  const parsed = delays.flatMap((delay) => (delay.success ? [delay.data] : []));
  if (parsed.length > 0 && parsed.length === delays.length && parsed.length <= 100) return parsed;
  context.addIssue({ code: 'custom', message: 'must be 1 to 100 durations such as 5s,1m,2h' });
  return z.NEVER;
});

const jitter = z
  .string()
  .regex(/^\d{1,3}(\.\d{1,6})?$/, 'must be a number from 0 to 10')
  .transform(Number)
  .refine((value) => value <= 10, 'must be a number from 0 to 10');

/** Parses `720h` to milliseconds. `0`, with or without a unit, means forever and becomes infinity. */
export const retentionPeriodSchema = z
  .string()
  .transform((text) => (text === '0' ? '0h' : text))
  .pipe(durationSchema)
  .transform((ms) => (ms === 0 ? Number.POSITIVE_INFINITY : ms));

export const historySettings = {
  RETENTION_BODIES: retentionPeriodSchema.prefault('720h'),
  RETENTION_HISTORY: retentionPeriodSchema.prefault('2160h'),
};

/** Workers apply these settings, and the API tells customers about them. */
export const deliverySettings = {
  WEBHOOK_TIMEOUT_MS: integerSchema(100, 600_000).prefault('15000'),
  WEBHOOK_RETRY_SCHEDULE: schedule.prefault('5s,1m,5m,30m,2h,5h,10h,20h,24h'),
  WEBHOOK_RETRY_JITTER: jitter.prefault('0.2'),
  ...historySettings,
};

type HistorySettings = z.output<z.ZodObject<typeof historySettings>>;

export function historyProblems({ RETENTION_BODIES, RETENTION_HISTORY }: HistorySettings): string[] {
  if (RETENTION_BODIES <= RETENTION_HISTORY) return [];
  return [
    'RETENTION_BODIES: must not exceed RETENTION_HISTORY (0 means forever), because retention removes a body together with its event',
  ];
}
