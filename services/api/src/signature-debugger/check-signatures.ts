import { timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { SignatureCause, SignatureCheck } from '@enterprise-api/shared/contracts';
import { type SigningKey, signBody, signingKey, signStandard } from '@enterprise-api/shared/security';

export interface ReceivedRequest {
  /** Names in lower case. */
  headers: ReadonlyMap<string, string>;
  body: Buffer;
}

export interface SentRequest {
  secret: string;
  /** Null unless a rotation's overlap is open. */
  previousSecret: string | null;
  /** The end of the overlap, if one is open. */
  previousSecretExpiresAt: Date | null;
  /** Null if the body is not stored. */
  body: Buffer | null;
  attemptTimesMs: readonly number[];
  /** The other webhooks of the organization. */
  others: readonly { webhookId: `whk_${string}`; secrets: readonly string[] }[];
}

type Check = SignatureCheck['checks'][number];

/** Says of each signature header whether it is right, and if not, why. Never shows a secret or a signature. */
export function checkSignatures(
  received: ReceivedRequest,
  sent: SentRequest,
): Pick<SignatureCheck, 'valid' | 'checks'> {
  const checks = schemes.map((scheme): Check => {
    const found = findCause(scheme, received, sent);
    return { header: scheme.header, message: messageOf(scheme, found), ...found };
  });
  const present = checks.filter(({ cause }) => cause !== 'missing_header');
  return { valid: present.length > 0 && present.every(({ cause }) => rightCauses.has(cause)), checks };
}

const rightCauses = new Set<SignatureCause>(['ok', 'previous_secret']);

interface Scheme {
  header: Check['header'];
  /** The headers that its signature covers. */
  covers: readonly string[];
  form: RegExp;
  sign(key: SigningKey, received: ReceivedRequest): string;
}

const hexScheme: Scheme = {
  header: 'X-Service-Signature',
  covers: [],
  form: /^[0-9a-f]{64}$/,
  sign: (key, { body }) => signBody(key, body),
};
const standardScheme: Scheme = {
  header: 'webhook-signature',
  covers: ['webhook-id', 'webhook-timestamp'],
  form: /^v1,[A-Za-z0-9+/]{43}=$/,
  sign: (key, { headers, body }) =>
    signStandard(key, headers.get('webhook-id') ?? '', headers.get('webhook-timestamp') ?? '', body),
};
const schemes = [hexScheme, standardScheme];

/** Finds the first cause that holds. A right signature proves that the body is right too. */
function findCause(
  scheme: Scheme,
  received: ReceivedRequest,
  sent: SentRequest,
): Omit<Check, 'header' | 'message'> & { message?: string } {
  const entries = entriesOf(received, scheme.header);
  if (entries.length === 0 || scheme.covers.some((name) => !received.headers.get(name))) {
    return { cause: 'missing_header' };
  }
  const signatures = entries.filter((entry) => scheme.form.test(entry));
  if (signatures.length === 0) {
    const isOfOther = schemes.some(({ form }) => entries.some((entry) => form.test(entry)));
    return { cause: isOfOther ? 'wrong_header' : 'bad_encoding' };
  }
  const isSignedBy = (secret: string) => {
    const expected = Buffer.from(scheme.sign(signingKey(secret), received));
    return signatures.some((signature) => timingSafeEqual(Buffer.from(signature), expected));
  };
  if (!isSignedBy(sent.secret)) {
    if (sent.previousSecret === null || !isSignedBy(sent.previousSecret)) {
      return bodyCause(received.body, sent.body) ?? otherCause(sent, isSignedBy);
    }
    return scheme === standardScheme ? { cause: 'previous_secret' } : { cause: 'ok', message: oldMessageOf(sent) };
  }
  const seconds = scheme === standardScheme ? skewSeconds(received, sent.attemptTimesMs) : 0;
  return seconds > toleranceSeconds ? { cause: 'timestamp_skew', seconds } : { cause: 'ok' };
}

function entriesOf({ headers }: ReceivedRequest, name: string): string[] {
  return (headers.get(name.toLowerCase()) ?? '').split(' ').filter((entry) => entry !== '');
}

function bodyCause(body: Buffer, stored: Buffer | null): { cause: SignatureCause } | null {
  if (body.length === 0) return { cause: 'body_consumed' };
  if (stored === null || body.equals(stored)) return null;
  if (body.toString().trim() === stored.toString().trim()) return { cause: 'whitespace_changed' };
  if (stored.subarray(0, body.length).equals(body)) return { cause: 'truncated' };
  return isSameJson(body, stored) ? { cause: 'body_reserialized' } : null;
}

function isSameJson(body: Buffer, stored: Buffer): boolean {
  try {
    return isDeepStrictEqual(JSON.parse(body.toString()), JSON.parse(stored.toString()));
  } catch {
    return false;
  }
}

function otherCause(
  { others }: SentRequest,
  isSignedBy: (secret: string) => boolean,
): Pick<Check, 'cause' | 'webhook_id'> {
  const other = others.find(({ secrets }) => secrets.some(isSignedBy));
  return other === undefined ? { cause: 'unknown' } : { cause: 'other_webhook', webhook_id: other.webhookId };
}

const toleranceSeconds = 300;

/** 0 if no attempt is known. */
function skewSeconds({ headers }: ReceivedRequest, attemptTimesMs: readonly number[]): number {
  const timestamp = Number(headers.get('webhook-timestamp'));
  const distances = attemptTimesMs.map((timeMs) => Math.abs(timestamp - Math.floor(timeMs / 1_000)));
  return distances.length === 0 ? 0 : Math.min(...distances);
}

function messageOf({ header, covers }: Scheme, { cause, seconds }: Pick<Check, 'cause' | 'seconds'>): string {
  switch (cause) {
    case 'missing_header':
      return `The request lacks one of these headers: ${[header, ...covers].join(', ')}.`;
    case 'bad_encoding':
      return header === hexScheme.header
        ? 'The value is not 64 characters of lowercase hex.'
        : 'No entry of the value is "v1," followed by 32 bytes in base64.';
    case 'wrong_header':
      return 'The value has the form of the other signature header.';
    case 'timestamp_skew':
      return `The signature is right, but its timestamp is ${seconds} seconds from the nearest attempt.`;
    default:
      return messages[cause];
  }
}

/** In the overlap, the previous secret makes `X-Service-Signature`. A receiver with only the new secret refuses it. */
const oldMessageOf = ({ previousSecretExpiresAt }: SentRequest) =>
  `The signature is right. Until ${previousSecretExpiresAt?.toISOString()} the previous secret makes it: verify this header with that secret.`;

const messages = {
  body_consumed: 'The body is empty: another part of your code read it before the verification.',
  whitespace_changed: 'The body has more or less white space at its beginning or end than we sent.',
  truncated: 'The body is only the beginning of the one that we sent.',
  body_reserialized: 'The body has the same JSON in other bytes: verify the raw body, before any parser.',
  previous_secret: 'The previous secret made the signature, which is valid until previous_secret_expires_at.',
  other_webhook: 'The secret of another of your webhooks made the signature.',
  ok: 'The signature is right.',
  unknown: 'No known secret makes this signature for this body.',
} as const;
