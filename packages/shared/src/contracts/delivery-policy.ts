/**
 * When a webhook is disabled as `failing`: it had no success for so long, and so many attempts failed since the last
 * one. The worker disables by it, and the API announces the time as `disable_at`.
 */
export const failingPolicy = { afterDays: 5, failedAttempts: 20 } as const;
