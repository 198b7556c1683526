import { domainToUnicode } from 'node:url';

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
export function isHostName(name: string): boolean {
  return name.length <= maxNameLength && name.split('.').every(isLabel);
}

/** Whether a name has one label, or ends in one of the names reserved for private use. */
export function isLocalName(name: string): boolean {
  const labels = name.split('.');
  return labels.length < 2 || specialUseTopLabels.has(labels.at(-1) ?? '');
}

/**
 * Whether the typed host is the parsed name itself: labels in ASCII, in any case, or in the letters that their punycode
 * encodes. Full-width letters, circled digits and ideographic dots are refused: the parser folds them into other letters.
 */
export function isTypedAsItself(typed: string, name: string): boolean {
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
