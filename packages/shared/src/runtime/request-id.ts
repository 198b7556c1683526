import { scrubSecrets } from './logger.ts';

const acceptable = /^[A-Za-z0-9._-]{1,128}$/;

/**
 * True if a caller's `X-Request-Id` may be stored and repeated in headers and logs. False for an API key, for example.
 */
export function isSafeRequestId(id: string): boolean {
  return acceptable.test(id) && scrubSecrets(id) === id;
}
