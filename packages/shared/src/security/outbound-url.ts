import { isIP } from 'node:net';
import { domainToUnicode } from 'node:url';
import type { AddressPolicy } from './address-rules.ts';

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

/** @param port empty for that of https */
function portProblem(port: string): string | null {
  if (port === '' || (Number(port) >= 1_024 && !blockedPorts.has(Number(port)))) return null;
  return `Port ${port} is not allowed; use 443 or a port from 1024 to 65535 that is not reserved for other services.`;
}

/**
 * Top-level labels that never lead to the public internet: those of RFC 6761 and RFC 9476, ICANN's `internal`, and those
 * that private networks and orchestrators use.
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
/** RFC 1123: letters, digits and inner hyphens, 1–63. No underscore: no certificate may be issued for one. */
const labelPattern = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Whether a name, as the URL parser gives it (lower case, punycode), has the syntax of a host name. The parser itself
 * lets `{{host}}`, `a..b.com`, 64-octet labels and a bare `xn--` through. A trailing dot is an empty label and refused:
 * with it, name, SNI and certificate would differ.
 */
function isHostName(name: string): boolean {
  return name.length <= maxNameLength && name.split('.').every(isLabel);
}

/** Whether a name has one label, or ends in one of the names reserved for private use. */
function isLocalName(name: string): boolean {
  const labels = name.split('.');
  return labels.length < 2 || specialUseTopLabels.has(labels.at(-1) ?? '');
}

/**
 * Whether the typed host is the parsed name itself: labels in ASCII, in any case, or in the letters that their punycode
 * encodes. Full-width letters, circled digits and ideographic dots are refused: the parser folds them into other letters.
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
