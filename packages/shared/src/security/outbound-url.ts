import { isIP } from 'node:net';
import type { AddressPolicy } from './address-rules.ts';
import { isHostName, isLocalName, isTypedAsItself } from './host-name.ts';

/** The maximum length of a webhook's URL, in characters. */
export const maxOutboundUrlLength = 2_048;

export type OutboundUrlCheck = { ok: true; url: string } | { ok: false; reason: string };

/** Ports from 1024 that browsers block (Fetch standard, "bad port"), and those of the usual data stores. */
const blockedPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  2375, 2379, 3306, 5432, 5672, 6379, 8500, 9200, 10250, 11211, 27017,
]);

/** Control, format (bidi), surrogate, private-use and unassigned characters, spaces, invisible characters, backslashes. */
const invisible = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\\]/u;

/**
 * Checks the URL of a webhook that is created or changed. Fragments are refused because they are never sent.
 *
 * @returns the URL to store, its scheme and host in lower case and the rest as sent, or a reason fit for the client
 */
export function checkNewUrl(raw: string, policy: AddressPolicy): OutboundUrlCheck {
  const check = checkOutboundUrl(raw, policy);
  if (check.ok && raw.includes('#')) return { ok: false, reason: 'The URL must not have a fragment (#…).' };
  return check;
}

/**
 * Checks by its text alone whether deliveries may go to a URL; nothing is looked up. Stored URLs are checked again
 * before they are used, because they may be older than a rule. A fragment is no obstacle here: webhooks registered
 * before fragments were refused go on working.
 */
export function checkOutboundUrl(raw: string, policy: AddressPolicy): OutboundUrlCheck {
  // Lower case comes last: it would turn letters that only look like ASCII, such as the Kelvin sign, into ASCII.
  const reason = textProblem(raw) ?? urlProblem(raw, policy);
  return reason === null ? { ok: true, url: withLowerCaseOrigin(raw) } : { ok: false, reason };
}

/** The same URL with its scheme and host in lower case, as webhooks store it. */
export function withLowerCaseOrigin(url: string): string {
  return url.replace(/^https:\/\/[^/?#]*/i, (origin) => origin.toLowerCase());
}

function textProblem(raw: string): string | null {
  if (raw.length === 0) return 'The URL must not be empty.';
  if (raw.length > maxOutboundUrlLength) return `The URL must be at most ${maxOutboundUrlLength} characters long.`;
  if (invisible.test(raw)) return 'The URL must not contain spaces, backslashes, control or invisible characters.';
  if (!/^https:\/\//i.test(raw)) return 'The URL must begin with https://.';
  return null;
}

function urlProblem(raw: string, policy: AddressPolicy): string | null {
  const authority = /^https:\/\/([^/?#]*)/i.exec(raw)?.[1] ?? '';
  if (authority.includes('@')) return 'The URL must not contain credentials.';
  if (authority.includes('%')) return 'The host must not be percent-encoded.';
  // Does not match an empty port, a leading zero, or a host that the parser would read from another part of the URL.
  const [, typedHost = '', typedPort] = /^(\[[^\]]*\]|[^:[\]]+)(?::([1-9]\d{0,4}))?$/.exec(authority) ?? [];
  const url = URL.parse(raw);
  if (typedHost === '' || url === null) return 'The URL is not valid.';
  return hostProblem(typedHost, url.hostname, policy) ?? portProblem(typedPort === undefined ? 443 : Number(typedPort));
}

function hostProblem(typed: string, host: string, policy: AddressPolicy): string | null {
  const literal = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(literal) !== 0) {
    if (typed !== host) return 'An IP address must be written in its canonical form.';
    return policy.permits(literal) ? null : 'The URL must not point to a private or reserved address.';
  }
  if (!isHostName(host) || !isTypedAsItself(typed, host)) return 'The host is not a valid host name.';
  if (isLocalName(host) && !policy.allowsPrivate) return 'The host must be a public host name.';
  return null;
}

function portProblem(port: number): string | null {
  if (port === 443 || (port >= 1024 && !blockedPorts.has(port))) return null;
  return `Port ${port} is not allowed; use 443 or a port from 1024 to 65535 that is not reserved for other services.`;
}
