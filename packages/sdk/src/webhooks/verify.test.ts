import { createHmac } from 'node:crypto';
import { eventBodyExample, eventTypeNames } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookEvent,
  type WebhookEventType,
  type WebhookHeaders,
} from './index.ts';

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const otherSecret = 'whsec_ZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=';
const now = new Date('2026-11-21T07:00:00.000Z');
const nowSeconds = now.getTime() / 1_000;
const event = eventBodyExample('batch.completed');
const id = 'evt_01jd6kz5r8e2v9qxm3c7t4b0na';
const body = JSON.stringify({ ...event, data: { batch_id: 'é' } });

const hex = (text: string, key = secret) => createHmac('sha256', key).update(text).digest('hex');
/** Signed by a library of the standard, not by our own code. */
const standard = (text: string, key = secret, at = now) => new Webhook(key).sign(id, at, text);
const triple = (signature: string, seconds = nowSeconds) => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': signature,
});
const verify = (headers: WebhookHeaders, more: Partial<VerifyWebhookOptions> = {}) =>
  verifyWebhook({ headers, rawBody: body, secret, now, ...more });
const subjectOf = (received: WebhookEvent): string => {
  switch (received.type) {
    case 'batch.completed':
    case 'batch.failed':
    case 'batch.partial_failure':
      return received.data.batch_id;
    case 'consultation.completed':
    case 'consultation.failed':
      return received.data.consultation_id;
    case 'webhook.test':
      return received.data.webhook_id;
    case 'webhook.failing':
    case 'webhook.disabled':
    case 'webhook.recovered':
      return received.data.webhook.id;
    case 'api_key.expiring':
    case 'api_key.expired':
      return received.data.api_key.id;
    case 'replay.finished':
      return received.data.replay.id;
  }
};
const refused = (reason: string) => ({ name: 'WebhookVerificationError', reason });

describe('a test', () => {
  const test = JSON.stringify({ ...event, test: true });
  const signed = triple(standard(test));

  it('of a real event type is refused, because it must not start real work', async () => {
    await expect(verify(signed, { rawBody: test })).rejects.toMatchObject(refused('test_not_allowed'));
    const bySignature = { 'x-service-signature': hex(test) };
    await expect(verify(bySignature, { rawBody: test })).rejects.toMatchObject(refused('test_not_allowed'));
  });

  it('of a real event type is accepted with allowTests', async () => {
    expect(await verify(signed, { rawBody: test, allowTests: true })).toEqual(JSON.parse(test));
  });

  it('of the type webhook.test is accepted', async () => {
    const rawBody = JSON.stringify({ ...eventBodyExample('webhook.test'), test: true });
    expect(await verify(triple(standard(rawBody)), { rawBody })).toMatchObject({ type: 'webhook.test' });
  });

  it('is only what its signed body says, whatever its headers say', async () => {
    const headers = { ...triple(standard(body)), 'x-service-test': 'true' };
    expect(await verify(headers)).toEqual(JSON.parse(body));
  });
});

describe('a delivery', () => {
  it('is verified by its Standard Webhooks signature', async () => {
    expect(await verify(triple(standard(body)))).toEqual(JSON.parse(body));
  });

  it('is verified by X-Service-Signature', async () => {
    expect(await verify({ 'X-Service-Signature': hex(body) })).toEqual(JSON.parse(body));
  });

  it('is judged by the Standard Webhooks signature where it has both', async () => {
    const both = { ...triple(standard(body)), 'x-service-signature': hex(body, otherSecret) };
    expect(await verify(both)).toMatchObject({ id });
    const wrong = { ...triple(standard(body, otherSecret)), 'x-service-signature': hex(body) };
    await expect(verify(wrong)).rejects.toMatchObject(refused('signature_mismatch'));
    const old = { ...triple(standard(body, secret, new Date(0)), 0), 'x-service-signature': hex(body) };
    await expect(verify(old)).rejects.toMatchObject(refused('timestamp_too_old'));
  });

  it.each(eventTypeNames)('of %s has the type that a switch narrows to', async (type) => {
    const text = JSON.stringify(eventBodyExample(type));
    const received = await verify({ 'x-service-signature': hex(text) }, { rawBody: text });
    // A type that one of the two catalogues lacks does not compile.
    const narrow: WebhookEventType = type;
    expect(received.type).toBe(narrow);
    expect(subjectOf(received)).toMatch(/^[a-z]{3}_/);
  });

  it('of a type that is newer than this version is returned too', async () => {
    const text = JSON.stringify({ ...event, type: 'panel.completed' });
    expect(await verify({ 'x-service-signature': hex(text) }, { rawBody: text })).toMatchObject({ id });
  });
});

describe('headers and bodies', () => {
  const signed = { ...triple(standard(body)), 'x-service-signature': hex(body) };
  const upperCase = Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toUpperCase(), value]));

  it.each<[string, WebhookHeaders]>([
    ['the Headers of fetch', new Headers(signed)],
    ['names in upper case', upperCase],
    ['lists of one value', Object.fromEntries(Object.entries(signed).map(([name, value]) => [name, [value]]))],
    ['absent values', { ...signed, 'x-other': undefined }],
  ])('headers may be %s', async (_what, headers) => {
    expect(await verify(headers)).toMatchObject({ id });
  });

  const bytes = new TextEncoder().encode(body);
  const within = new Uint8Array([1, ...bytes, 2]).subarray(1, bytes.length + 1);
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  it.each<[string, VerifyWebhookOptions['rawBody']]>([
    ['text', body],
    ['bytes', bytes],
    ['a part of other bytes', within],
    ['shared memory', shared],
    ['a Buffer', Buffer.from(body)],
    ['an ArrayBuffer', bytes.buffer],
  ])('the body may be %s', async (_what, rawBody) => {
    expect(await verify(signed, { rawBody })).toEqual(JSON.parse(body));
  });

  it('the bytes of the caller are read once, before anything is awaited', async () => {
    const mine = new TextEncoder().encode(body);
    const verifying = verify(signed, { rawBody: mine });
    mine.fill(0);
    expect(await verifying).toEqual(JSON.parse(body));
  });
});

describe('a rotation', () => {
  it('is survived with both secrets, in any order, and with one of them', async () => {
    const overlap = {
      ...triple(`${standard(body, otherSecret)} ${standard(body)}`),
      'x-service-signature': hex(body),
    };
    for (const secrets of [[secret, otherSecret], [otherSecret, secret], [secret], otherSecret]) {
      expect(await verify(overlap, { secret: secrets })).toMatchObject({ id });
    }
    const onlyHex = { 'x-service-signature': overlap['x-service-signature'] };
    expect(await verify(onlyHex, { secret: [otherSecret, secret] })).toMatchObject({ id });
    await expect(verify(onlyHex, { secret: otherSecret })).rejects.toMatchObject(refused('signature_mismatch'));
  });
});

describe('refused is', () => {
  const signature = standard(body);

  it.each<[string, WebhookHeaders, string]>([
    ['a request without a signature', {}, 'missing_signature'],
    ['another secret', triple(standard(body, otherSecret)), 'signature_mismatch'],
    ['the signature of another body', triple(standard(`${body} `)), 'signature_mismatch'],
    ['another id', { ...triple(signature), 'webhook-id': 'evt_2' }, 'signature_mismatch'],
    ['another timestamp', triple(signature, nowSeconds + 1), 'signature_mismatch'],
    ['another version', triple(signature.replace('v1,', 'v2,')), 'signature_mismatch'],
    ['half a signature', triple(signature.slice(0, 20)), 'signature_mismatch'],
    ['more than a signature', triple(`${signature}A`), 'signature_mismatch'],
    ['an empty signature', triple(''), 'signature_mismatch'],
    ['no id', { ...triple(signature), 'webhook-id': undefined }, 'invalid_headers'],
    ['no timestamp', { ...triple(signature), 'webhook-timestamp': undefined }, 'invalid_headers'],
    ['a timestamp that is no number', { ...triple(signature), 'webhook-timestamp': '1e9' }, 'invalid_headers'],
    [
      'an X-Service-Signature of another secret',
      { 'x-service-signature': hex(body, otherSecret) },
      'signature_mismatch',
    ],
    ['one in upper case', { 'x-service-signature': hex(body).toUpperCase() }, 'signature_mismatch'],
    ['half of one', { 'x-service-signature': hex(body).slice(0, 32) }, 'signature_mismatch'],
    ['more than one', { 'x-service-signature': `${hex(body)}00` }, 'signature_mismatch'],
    ['two of them', { 'x-service-signature': [hex(body), hex(body)] }, 'signature_mismatch'],
    ['an empty one', { 'x-service-signature': '' }, 'signature_mismatch'],
    ['characters beyond a byte', { 'x-service-signature': 'ā'.repeat(64) }, 'signature_mismatch'],
  ])('%s', async (_what, headers, reason) => {
    await expect(verify(headers)).rejects.toMatchObject(refused(reason));
  });

  it('every change of a byte of the body', async () => {
    const bytes = new TextEncoder().encode(body);
    const change = fc.tuple(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }));
    await fc.assert(
      fc.asyncProperty(change, async ([at, difference]) => {
        const rawBody = bytes.map((byte, index) => (index === at ? byte ^ difference : byte));
        const expected = refused('signature_mismatch');
        await expect(verify(triple(signature), { rawBody })).rejects.toMatchObject(expected);
        await expect(verify({ 'x-service-signature': hex(body) }, { rawBody })).rejects.toMatchObject(expected);
      }),
    );
  });

  it.each([
    ['no JSON', 'hello'],
    ['null', 'null'],
    ['no event', '{}'],
    ['an event without data', JSON.stringify({ ...event, data: null })],
    ['a byte order mark', `\ufeff${body}`],
  ])('a signed body that is %s', async (_what, rawBody) => {
    const headers = { 'x-service-signature': hex(rawBody) };
    await expect(verify(headers, { rawBody })).rejects.toMatchObject(refused('invalid_body'));
  });
});

describe('toleranceSeconds', () => {
  const signedAgo = (seconds: number) => {
    const at = new Date(now.getTime() - seconds * 1_000);
    return triple(standard(body, secret, at), nowSeconds - seconds);
  };

  it.each<[number, number | undefined, string | undefined]>([
    [300, undefined, undefined],
    [301, undefined, 'timestamp_too_old'],
    [-300, undefined, undefined],
    [-301, undefined, 'timestamp_too_new'],
    [10, 10, undefined],
    [11, 10, 'timestamp_too_old'],
    [1, 0, 'timestamp_too_old'],
    [1_000_000, Number.POSITIVE_INFINITY, undefined],
  ])('signed %d s ago, with a tolerance of %p: %p', async (seconds, toleranceSeconds, reason) => {
    const verdict = verify(signedAgo(seconds), { toleranceSeconds }).then(
      () => undefined,
      (error) => error.reason,
    );
    expect(await verdict).toBe(reason);
  });

  it('a request whose age is unknown is refused where a timestamp is required', async () => {
    const options = { requireTimestamp: true };
    await expect(verify({ 'x-service-signature': hex(body) }, options)).rejects.toMatchObject(
      refused('missing_signature'),
    );
    expect(await verify(signedAgo(0), options)).toMatchObject({ id });
  });
});

describe("the receiver's own mistakes are TypeErrors, whatever the request", () => {
  it.each<[string, object]>([
    ['no secret', { secret: undefined }],
    ['an empty secret', { secret: '' }],
    ['a secret without its prefix', { secret: secret.slice(6) }],
    ['a secret that is cut', { secret: secret.slice(0, -2) }],
    ['no secret in the list', { secret: [] }],
    ['one bad secret in the list', { secret: [secret, 'secret'] }],
    ['a parsed body', { rawBody: event }],
    ['no body', { rawBody: undefined }],
    ['a tolerance below zero', { toleranceSeconds: -1 }],
    ['a tolerance that is no number', { toleranceSeconds: Number.NaN }],
  ])('%s', async (_what, options) => {
    await expect(verify(triple(standard(body)), options)).rejects.toBeInstanceOf(TypeError);
  });
});
