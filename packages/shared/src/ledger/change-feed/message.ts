import { z } from 'zod';
import type { Change } from './change-feed.ts';

export const changeChannel = 'enterprise_api_changes';

const changeSchema = z.strictObject({
  kind: z.enum(['api_key', 'organization', 'webhook', 'console_session', 'events', 'followed', 'sending']),
  id: z.uuid(),
});

/** Ignores messages that are not changes, because any client may publish on the channel. */
export function deliverChange(message: string, listener: (change: Change) => void): void {
  let json: unknown;
  try {
    json = JSON.parse(message);
  } catch {
    return;
  }
  const change = changeSchema.safeParse(json);
  if (change.success) listener(change.data);
}
