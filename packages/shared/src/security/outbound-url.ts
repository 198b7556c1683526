import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import type { AddressPolicy } from './address-rules.ts';

export const maxOutboundUrlLength = 2_048;

export type OutboundUrlCheck = { ok: true; url: string } | { ok: false; reason: string };

/**
 * Blocked ports from 1024 up: ports that browsers block (Fetch standard, "bad port"), and ports of common data stores
 * and cluster services.
 */
const blockedPorts = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
  2375, 2379, 3306, 5432, 5672, 6379, 8500, 9200, 10250, 11211, 27017,
]);

/** Control, format (bidi), surrogate, private-use, unassigned, space and invisible characters, and backslashes. */
const invisible = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\u2800\\]/u;

/**
 * Checks the URL of a webhook that is created or changed. Fragments are refused because they are never sent.
 *
 * @returns the URL to store, with scheme and host in lower case and the rest unchanged, or a reason to show the client
 */
export function checkNewUrl(raw: string, policy: AddressPolicy): OutboundUrlCheck {
  const check = checkOutboundUrl(raw, policy);
  if (check.ok && raw.includes('#')) return { ok: false, reason: 'The URL must not have a fragment (#…).' };
  return check;
}

/**
 * Checks from its text alone whether deliveries may use a URL; resolves no name. Stored URLs are checked again before
 * use, because rules may have changed. Allows a fragment, so that webhooks that were registered before fragments were
 * refused keep working.
 */
export function checkOutboundUrl(raw: string, policy: AddressPolicy): OutboundUrlCheck {
  // Check the text before lowercasing, because lowercasing turns some letters outside ASCII, such as the Kelvin sign,
  // into ASCII.
  const reason = textProblem(raw) ?? urlProblem(raw, policy);
  return reason === null ? { ok: true, url: withLowerCaseOrigin(raw) } : { ok: false, reason };
}

/** The URL with its scheme and host in lower case, as webhooks store it. */
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
  // The pattern excludes an empty port, a port with a leading zero, and an empty host as in `https:///example.com`.
  const [, typedHost = ''] = /^(\[[^\]]*\]|[^:[\]]+)(?::[1-9]\d{0,4})?$/.exec(authority) ?? [];
  const url = URL.parse(raw);
  if (typedHost === '' || url === null) return 'The URL is not valid.';
  return hostProblem(typedHost, url.hostname, policy) ?? portProblem(url.port);
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

/** @param port empty for the default port of https */
function portProblem(port: string): string | null {
  if (port === '' || (Number(port) >= 1_024 && !blockedPorts.has(Number(port)))) return null;
  return `Port ${port} is not allowed; use 443 or a port from 1024 to 65535 that is not reserved for other services.`;
}

/**
 * Top-level labels that never lead to the public internet: RFC 6761, RFC 9476, ICANN's `internal`, and labels that
 * private networks and orchestrators use.
 */
const specialUseTopLabels = new Set([
  'localhost',
  'local',
  'localdomain',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'lan',
  'arpa',
  'test',
  'invalid',
  'onion',
  'alt',
  'consul',
  'svc',
]);

const maxNameLength = 253;
/**
 * A label by RFC 1123: 1–63 letters, digits and inner hyphens. Excludes underscores, because no certificate may be
 * issued for a name with an underscore.
 */
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Checks the syntax of a host name from the URL parser (lower case, punycode). The parser itself accepts `{{host}}`,
 * `a..b.com`, 64-octet labels and a bare `xn--`. Refuses a trailing dot as an empty label, because name, SNI and
 * certificate would differ.
 */
function isHostName(name: string): boolean {
  return name.length <= maxNameLength && name.split('.').every(isLabel);
}

function isLocalName(name: string): boolean {
  const labels = name.split('.');
  return labels.length < 2 || specialUseTopLabels.has(labels.at(-1) ?? '');
}

/**
 * True if the typed host equals the parser's name. Each typed label is ASCII in any case, or the letters that the
 * parsed label's punycode encodes. Refuses full-width letters, circled digits and ideographic dots, because the parser
 * folds them into other letters.
 */
function isTypedAsItself(typed: string, name: string): boolean {
  const labels = name.split('.');
  const typedLabels = typed.split('.');
  if (typedLabels.length !== labels.length) return false;
  return typedLabels.every((typedLabel, index) => {
    const label = labels[index] ?? '';
    if (isAscii(typedLabel)) return typedLabel.toLowerCase() === label;
    return label.startsWith('xn--') && typedLabel.toLowerCase().normalize('NFC') === domainToUnicode(label);
  });
}

function isAscii(text: string): boolean {
  return /^[\x21-\x7e]*$/.test(text);
}

function isLabel(label: string): boolean {
  if (!labelPattern.test(label)) return false;
  if (!label.startsWith('xn--')) return true;
  const unicode = domainToUnicode(label);
  return unicode !== '' && unicode !== label && new URL(`https://${unicode}.example`).hostname === `${label}.example`;
}
