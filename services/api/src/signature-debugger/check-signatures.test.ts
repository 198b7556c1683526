import type { SignatureCause } from '@enterprise-api/shared/contracts';
import { signHeaders, signingKey } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { checkSignatures, type ReceivedRequest, type SentRequest } from './check-signatures.ts';

const sentAtS = 1_764_000_000;
const secretOf = (bytes: Uint8Array) => `whsec_${Buffer.from(bytes).toString('base64')}`;
const secrets = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(secretOf);
const another = 'whk_01jd6kz5r8e2v9qxm3c7t4b0na';

/** A delivery as a receiver gets it, and as the service knows it. */
const deliveries = fc
  .record({
    current: secrets,
    previous: secrets,
    other: secrets,
    data: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 })),
  })
  .filter(({ current, previous, other }) => new Set([current, previous, other]).size === 3)
  .map(({ current, previous, other, data }) => {
    const body = Buffer.from(JSON.stringify({ id: 'evt_1', data }));
    const sent: SentRequest = {
      secret: current,
      previousSecret: previous,
      previousSecretExpiresAt: new Date(sentAtS * 1_000),
      body,
      attemptTimesMs: [sentAtS * 1_000],
      others: [{ webhookId: another, secrets: [other] }],
    };
    return { sent, received: signed(body, current), keys: { current, previous, other } };
  });

function signed(body: Buffer, secret: string, timestampS = sentAtS): ReceivedRequest {
  const headers: Record<string, string> = { 'webhook-id': 'evt_1', 'webhook-timestamp': String(timestampS) };
  signHeaders(headers, body, { current: signingKey(secret), old: null });
  return { body, headers: new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])) };
}

const withHeaders = ({ headers, body }: ReceivedRequest, changed: Record<string, string>): ReceivedRequest => ({
  body,
  headers: new Map([...headers, ...Object.entries(changed)]),
});
const withBody = ({ headers }: ReceivedRequest, body: string | Buffer): ReceivedRequest => ({
  headers,
  body: Buffer.from(body),
});
const hexOf = ({ headers }: ReceivedRequest) => headers.get('x-service-signature') as string;
const standardOf = ({ headers }: ReceivedRequest) => headers.get('webhook-signature') as string;

type Delivered = typeof deliveries extends fc.Arbitrary<infer Value> ? Value : never;

/** What happens to a request on its way to the verification, and what is then said of each header. */
const mishaps: [string, (delivered: Delivered) => ReceivedRequest, hex: SignatureCause, standard: SignatureCause][] = [
  ['nothing', ({ received }) => received, 'ok', 'ok'],
  ['no header arrives', ({ received }) => ({ ...received, headers: new Map() }), 'missing_header', 'missing_header'],
  ['its time is lost', ({ received }) => withHeaders(received, { 'webhook-timestamp': '' }), 'ok', 'missing_header'],
  [
    'upper case, and no version',
    ({ received }) =>
      withHeaders(received, {
        'x-service-signature': `sha256=${hexOf(received).toUpperCase()}`,
        'webhook-signature': standardOf(received).slice(3),
      }),
    'bad_encoding',
    'bad_encoding',
  ],
  [
    'headers are exchanged',
    ({ received }) =>
      withHeaders(received, {
        'x-service-signature': standardOf(received),
        'webhook-signature': hexOf(received),
      }),
    'wrong_header',
    'wrong_header',
  ],
  ['the body is read before', ({ received }) => withBody(received, ''), 'body_consumed', 'body_consumed'],
  [
    'a line break is added',
    ({ received }) => withBody(received, `${received.body.toString()}\r\n`),
    'whitespace_changed',
    'whitespace_changed',
  ],
  ['the end is cut off', ({ received }) => withBody(received, received.body.subarray(0, -1)), 'truncated', 'truncated'],
  [
    'a framework parses the body',
    ({ received }) => withBody(received, JSON.stringify(JSON.parse(received.body.toString()), null, 4)),
    'body_reserialized',
    'body_reserialized',
  ],
  ['the previous secret signs', ({ received, keys }) => signed(received.body, keys.previous), 'ok', 'previous_secret'],
  [
    'another webhook is meant',
    ({ received, keys }) => signed(received.body, keys.other),
    'other_webhook',
    'other_webhook',
  ],
  [
    'it is replayed',
    ({ received, keys }) => signed(received.body, keys.current, sentAtS + 301),
    'ok',
    'timestamp_skew',
  ],
  ['it is late', ({ received, keys }) => signed(received.body, keys.current, sentAtS - 300), 'ok', 'ok'],
  ['a stranger sends', ({ received }) => signed(received.body, secretOf(Buffer.alloc(32, 7))), 'unknown', 'unknown'],
  ['the body is another', ({ received }) => withBody(received, 'other'), 'unknown', 'unknown'],
];

describe('checking the signatures of a request', () => {
  it.each(mishaps)('if %s, names the cause', (_name, mishap, hex, standard) => {
    fc.assert(
      fc.property(deliveries, (delivered) => {
        const { valid, checks } = checkSignatures(mishap(delivered), delivered.sent);
        expect(checks.map(({ header, cause }) => [header, cause])).toEqual([
          ['X-Service-Signature', hex],
          ['webhook-signature', standard],
        ]);
        const present = [hex, standard].filter((cause) => cause !== 'missing_header');
        const isRight = present.every((cause) => cause === 'ok' || cause === 'previous_secret');
        expect(valid).toBe(present.length > 0 && isRight);
      }),
      { numRuns: 10 },
    );
  });

  it('shows neither a secret nor a signature', () => {
    fc.assert(
      fc.property(deliveries, fc.constantFrom(...mishaps), (delivered, [, mishap]) => {
        const { sent, keys } = delivered;
        const shown = JSON.stringify(checkSignatures(mishap(delivered), sent));
        for (const secret of Object.values(keys)) {
          const { headers } = signed(sent.body as Buffer, secret);
          const hidden = [
            secret.slice(6),
            headers.get('x-service-signature'),
            headers.get('webhook-signature')?.slice(3),
          ];
          for (const text of hidden) expect(shown).not.toContain(text);
        }
      }),
      { numRuns: 50 },
    );
  });

  it('names the other webhook, and how far the timestamp is away', () => {
    const [delivered] = fc.sample(deliveries, { numRuns: 1, seed: 1 }) as [Delivered];
    const { sent, received, keys } = delivered;
    const [, other] = checkSignatures(signed(received.body, keys.other), sent).checks;
    expect(other?.webhook_id).toBe(another);
    const [, late] = checkSignatures(signed(received.body, keys.current, sentAtS - 1_000), sent).checks;
    expect(late).toMatchObject({ cause: 'timestamp_skew', seconds: 1_000 });
  });

  it('accepts both entries of an overlap, in any order', () => {
    fc.assert(
      fc.property(deliveries, fc.boolean(), ({ sent, received, keys }, isOldFirst) => {
        const entries = [received, signed(received.body, keys.previous)].map(standardOf);
        const value = (isOldFirst ? entries.reverse() : entries).join(' ');
        const { valid, checks } = checkSignatures(withHeaders(received, { 'webhook-signature': value }), sent);
        expect([valid, checks[1]?.cause]).toEqual([true, 'ok']);
      }),
      { numRuns: 10 },
    );
  });

  it('knows no cause without the stored body, but still who made a signature', () => {
    fc.assert(
      fc.property(deliveries, ({ sent, received, keys }) => {
        const gone = { ...sent, body: null };
        const spaced = checkSignatures(withBody(received, `${received.body.toString()} `), gone);
        expect(spaced.checks.map(({ cause }) => cause)).toEqual(['unknown', 'unknown']);
        expect(checkSignatures(received, gone).valid).toBe(true);
        const other = checkSignatures(signed(received.body, keys.other), gone).checks;
        expect(other).toMatchObject(Array(2).fill({ cause: 'other_webhook', webhook_id: another }));
      }),
      { numRuns: 10 },
    );
  });
});
