import { z } from 'zod';

/** The catalogue of plans. `starter` has no API access; the rate limit of the others is a setting (`API_RATE_LIMITS`). */
export const planNames = ['starter', 'pro', 'business', 'enterprise'] as const;

export type Plan = (typeof planNames)[number];

/** A plan whose keys are accepted. */
export type ApiPlan = Exclude<Plan, 'starter'>;

export const planSchema = z.enum(planNames).meta({
  id: 'Plan',
  description: 'The plan of an organization. `starter` has no API access.',
  examples: ['enterprise'],
});

/** Whether keys of organizations on this plan may call the API. */
export function hasApiAccess(plan: Plan): plan is ApiPlan {
  return plan !== 'starter';
}

/** For documents. */
export const rateLimitExample = { limit: 6_000, window_seconds: 60 };

/** The rate limit of an organization, as its plan has it. */
export const rateLimitSchema = z
  .strictObject({
    limit: z.number().int().describe('Requests that the organization may make in each window.'),
    window_seconds: z.number().int(),
  })
  .meta({
    id: 'RateLimit',
    description: "The rate limit of an organization's plan.",
    examples: [rateLimitExample],
  });
