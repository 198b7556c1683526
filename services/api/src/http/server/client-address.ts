import type { IncomingMessage } from 'node:http';
import { createLimitedWarning, type Logger } from '@enterprise-api/shared/runtime';
import { canonicalAddress, canonicalCidr, cidrContains } from '@enterprise-api/shared/security';

/**
 * Finds the client's address. Trusts only the entries of `X-Forwarded-For` that trusted proxies added. The client is
 * the first entry from the right that is not a trusted proxy. If an entry is not an address, the previous hop is the
 * client.
 *
 * @param peer address of the socket
 * @param forwardedFor the header, or undefined
 * @param trustedProxies CIDRs
 * @returns the canonical address; an IPv4-mapped address becomes IPv4
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | undefined,
  trustedProxies: readonly string[],
): string {
  let client = canonicalAddress(withoutZone(peer ?? '')) ?? 'unknown';
  if (forwardedFor === undefined || trustedProxies.length === 0) return client;
  const hops = forwardedFor.split(',');
  for (let hop = hops.pop(); hop !== undefined; hop = hops.pop()) {
    if (!trustedProxies.some((cidr) => cidrContains(cidr, client))) return client;
    const next = canonicalAddress(hop.trim());
    if (next === null) return client;
    client = next;
  }
  return client;
}

export type ClientAddressOf = (request: IncomingMessage) => string;

/**
 * Warns when it ignores `X-Forwarded-For` because the peer is not a trusted proxy. If API_TRUSTED_PROXIES lacks a
 * proxy, all clients behind that proxy share one limit of failed authentications. Keys with an allowlist of client
 * addresses also fail.
 */
export function createClientAddressOf(trustedProxies: readonly string[], log: Logger): ClientAddressOf {
  const warn = createLimitedWarning(log, 'X-Forwarded-For ignored: the peer is not in API_TRUSTED_PROXIES');
  return ({ socket, headers }) => {
    const peer = socket.remoteAddress;
    const forwardedFor = headers['x-forwarded-for'] as string | undefined;
    if (forwardedFor !== undefined && !isTrustedProxy(peer, trustedProxies)) warn(undefined, { peer_address: peer });
    return clientAddress(peer, forwardedFor, trustedProxies);
  };
}

export function isTrustedProxy(peer: string | undefined, trustedProxies: readonly string[]): boolean {
  const address = withoutZone(peer ?? '');
  return trustedProxies.some((cidr) => cidrContains(cidr, address));
}

/** The bucket that an address counts in. An IPv6 client usually owns its whole /64. */
export function addressBucket(address: string): string {
  return address.includes(':') ? (canonicalCidr(`${address}/64`) ?? address) : address;
}

/** The kernel reports the address of a link-local peer with its interface: `fe80::1%eth0`. */
function withoutZone(address: string): string {
  const zone = address.indexOf('%');
  return zone === -1 ? address : address.slice(0, zone);
}
