import { z } from 'zod';
import { planSchema } from './plans.ts';
import { publicIdSchema, textSchema, timestampSchema } from './primitives.ts';

const nameSchema = textSchema.min(1).max(200);

export const createOrganizationSchema = z.strictObject({ name: nameSchema, plan: planSchema });

export const updateOrganizationSchema = z
  .strictObject({ name: nameSchema.optional(), plan: planSchema.optional() })
  .refine((body) => Object.keys(body).length > 0, 'must change at least one field');

/** An organization: a customer of the service, with one plan, API keys and webhooks. */
export const organizationSchema = z.strictObject({
  id: publicIdSchema('org'),
  object: z.literal('organization'),
  name: z.string(),
  plan: planSchema,
  created_at: timestampSchema,
});
export type Organization = z.infer<typeof organizationSchema>;
