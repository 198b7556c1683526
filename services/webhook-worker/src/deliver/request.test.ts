import { createHmac, randomBytes } from 'node:crypto';
import { newUuid, toPublicId, version } from '@enterprise-api/shared/runtime';
import { signBody, signingKey, signStandard } from '@enterprise-api/shared/security';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import type { SigningKeys } from '../webhooks/webhook-cache.ts';
import type { BegunAttempt } from './classify.ts';
import { buildRequest } from './deliver.ts';

const oldSecret = `whsec_${randomBytes(32).toString('base64')}`;
const newSecret = `whsec_${randomBytes(32).toString('base64')}`;
const now = Date.now();
const text = '{"id":"evt_1","text":"ü"}';
const body = Buffer.from(text);
const [eventId, deliveryId] = [newUuid(), newUuid()];

function build(keys: Omit<SigningKeys, 'headers'>, isTest = false, own: SigningKeys['headers'] = []) {
  const lease = { eventId, eventType: 'batch.failed', deliveryId, number: 3, isTest, body };
  const begun = { lease, webhook: { url: 'https://example.com/x' }, startedAt: new Date(now) };
  return buildRequest(begun as BegunAttempt, { ...keys, headers: own });
}

function isVerifiedBy(secret: string, headers: Readonly<Record<string, string>>): boolean {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch {
    return false;
  }
}

describe('the request of an attempt', () => {
  it('has exactly the documented headers', () => {
    const key = signingKey(newSecret);
    const { url, headers, body: sent } = build({ current: key, previous: null });
    expect(url).toBe('https://example.com/x');
    expect(sent).toEqual(body);
    expect(headers).toEqual({
      'Content-Type': 'application/json',
      'Content-Length': String(body.length),
      'User-Agent': `enterprise-api-webhooks/${version}`,
      'X-Service-Event': 'batch.failed',
      'X-Service-Event-Id': toPublicId('evt', eventId),
      'X-Service-Delivery-Id': toPublicId('dlv', deliveryId),
      'X-Service-Attempt': '3',
      'X-Service-Signature': signBody(key, body),
      'webhook-id': toPublicId('evt', eventId),
      'webhook-timestamp': String(Math.floor(now / 1_000)),
      'webhook-signature': expect.stringMatching(/^v1,[A-Za-z0-9+/]{43}=$/),
    });
    expect(isVerifiedBy(newSecret, headers)).toBe(true);
    expect(isVerifiedBy(oldSecret, headers)).toBe(false);
  });

  it('carries the headers of the webhook beside its own, also one with a strange name', () => {
    const own: SigningKeys['headers'] = [
      ['Authorization', 'Bearer gateway'],
      ['__proto__', 'x'],
    ];
    const { headers } = build({ current: signingKey(newSecret), previous: null }, false, own);
    expect(Object.entries(headers)).toEqual(expect.arrayContaining(own));
    expect(isVerifiedBy(newSecret, headers)).toBe(true);
  });

  it('says that it is a test', () => {
    expect(build({ current: signingKey(newSecret), previous: null }, true).headers['X-Service-Test']).toBe('true');
  });

  it('is signed with both secrets during the overlap of a rotation, and with the old one in the header that holds one signature', () => {
    const previous = { key: signingKey(oldSecret), expiresAt: now + 1 };
    const { headers } = build({ current: signingKey(newSecret), previous });
    expect(headers['X-Service-Signature']).toBe(signBody(signingKey(oldSecret), body));
    expect(isVerifiedBy(oldSecret, headers)).toBe(true);
    expect(isVerifiedBy(newSecret, headers)).toBe(true);
    const [first = '', second = ''] = headers['webhook-signature']?.split(' ') ?? [];
    expect(isVerifiedBy(newSecret, { ...headers, 'webhook-signature': first })).toBe(true);
    expect(isVerifiedBy(oldSecret, { ...headers, 'webhook-signature': second })).toBe(true);
  });

  it('is signed with the new secret alone from the end of the overlap', () => {
    const previous = { key: signingKey(oldSecret), expiresAt: now };
    const { headers } = build({ current: signingKey(newSecret), previous });
    expect(headers['X-Service-Signature']).toBe(signBody(signingKey(newSecret), body));
    expect(isVerifiedBy(oldSecret, headers)).toBe(false);
  });
});

describe('the signature of the body', () => {
  it('is the HMAC-SHA256 of the raw bytes, keyed with the whole secret, in lower-case hex', () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const body = '{"text":"ü€😀"}';
    const expected = createHmac('sha256', secret).update(body, 'utf8').digest('hex');
    expect(signBody(signingKey(secret), body)).toBe(expected);
    expect(signBody(signingKey(secret), Buffer.from(body))).toBe(expected);
    expect(expected).toMatch(/^[0-9a-f]{64}$/);
  });

  it('has the value that OpenSSL computes', () => {
    const key = signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    expect(signBody(key, '{"test": 2432232314}')).toBe(
      '80ec8a89ce3cd22133a1066caecb4d04fea7467657c8514d717ec42c38a5c94c',
    );
  });
});

describe('the Standard Webhooks signature', () => {
  it('is the one of that standard', () => {
    const key = signingKey('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw');
    const signature = signStandard(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}');
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by an independent verifier', () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const body = '{"text":"ü€😀"}';
    const timestamp = String(Math.floor(Date.now() / 1_000));
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': timestamp,
      'webhook-signature': signStandard(signingKey(secret), 'evt_1', timestamp, Buffer.from(body)),
    };
    expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'ü€😀' });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature found');
  });
});
