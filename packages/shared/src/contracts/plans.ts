import { z } from 'zod';

/** The catalogue of plans. `starter` has no API access; the rate limit of the others is a setting (`API_RATE_LIMITS`). */
export const planNames = ['starter', 'pro', 'business', 'enterprise'] as const;

export type Plan = (typeof planNames)[number];

/** A plan whose keys are accepted. */
export type ApiPlan = Exclude<Plan, 'starter'>;

export const planSchema = z.enum(planNames);

/** Whether keys of organizations on this plan may call the API. */
export function hasApiAccess(plan: Plan): plan is ApiPlan {
  return plan !== 'starter';
}

/** The rate limit of an organization, as its plan has it. */
export const rateLimitSchema = z.strictObject({ limit: z.number().int(), window_seconds: z.number().int() });
