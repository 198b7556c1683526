import { historySettings, retentionPeriodSchema } from '@enterprise-api/shared/runtime';
import type { z } from 'zod';

export const retentionSettings = { ...historySettings, RETENTION_AUDIT: retentionPeriodSchema.prefault('9600h') };

/** Milliseconds; infinite = forever. */
export type RetentionPeriods = z.output<z.ZodObject<typeof retentionSettings>>;
