import { z } from 'zod';

/** `starter` has no API access. `API_RATE_LIMITS` sets the rate limit of the other plans. */
export const planNames = ['starter', 'pro', 'business', 'enterprise'] as const;

export type Plan = (typeof planNames)[number];

export type ApiPlan = Exclude<Plan, 'starter'>;

export const planSchema = z.enum(planNames).meta({
  id: 'Plan',
  description: 'The plan of an organization. `starter` has no API access.',
  examples: ['enterprise'],
});

export function hasApiAccess(plan: Plan): plan is ApiPlan {
  return plan !== 'starter';
}

/** Requests per minute, unless `API_RATE_LIMITS` says otherwise. */
export const defaultRateLimits: Readonly<Record<ApiPlan, number>> = { pro: 300, business: 1_200, enterprise: 6_000 };

export const rateLimitExample = { limit: defaultRateLimits.enterprise, window_seconds: 60 };

export const rateLimitSchema = z
  .strictObject({
    limit: z.number().int().describe('Requests that the organization may make in each window.'),
    window_seconds: z.number().int().describe('The length of a window, in seconds.'),
  })
  .meta({
    id: 'RateLimit',
    description: "The rate limit of an organization's plan.",
    examples: [rateLimitExample],
  });
