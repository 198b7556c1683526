import { BoundedMap } from '@enterprise-api/shared/runtime';
import { type AddressPolicy, checkOutboundUrl } from '@enterprise-api/shared/security';

/** A webhook's URL, taken apart. */
export type Target = {
  origin: string;
  /** Name or IP literal, without brackets. */
  host: string;
  port: number;
  /** Path and query, as they go into the request line. */
  path: string;
};

const maxEntries = 10_000;

/**
 * Takes URLs apart, each once. A URL is checked again here as at its registration: the rules may have changed since.
 *
 * @returns null for a URL that deliveries may not go to
 */
export function createTargets(policy: AddressPolicy): (url: string) => Target | null {
  const targets = new BoundedMap<string, Target | null>(maxEntries);
  return (url) => {
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = checkOutboundUrl(url, policy).ok ? takeApart(new URL(url)) : null;
    targets.set(url, target);
    return target;
  };
}

function takeApart({ origin, hostname, port, pathname, search }: URL): Target {
  return {
    origin,
    host: hostname.replace(/^\[(.*)\]$/, '$1'),
    port: port === '' ? 443 : Number(port),
    path: pathname + search,
  };
}
