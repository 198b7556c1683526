import { createLimitedWarning, type Logger } from '@enterprise-api/shared/runtime';

const everyMs = 60_000;

/**
 * Warns about a proxy that is missing in API_TRUSTED_PROXIES: all of its clients then have the proxy's address, share
 * one limit of failed authentications, and no key with an allowlist of client addresses works.
 */
export function createForwardedForWarning(log: Logger): (peer: string) => void {
  const warn = createLimitedWarning(log, 'X-Forwarded-For ignored: the peer is not in API_TRUSTED_PROXIES', everyMs);
  return (peer) => warn(undefined, { peer_address: peer });
}
