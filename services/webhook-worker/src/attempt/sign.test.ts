import { createHmac, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signBody, signingKey, signStandard } from './sign.ts';

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
    const signature = signStandard(key, 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}');
    expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  });

  it('is accepted by an independent verifier', () => {
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    const body = '{"text":"ü€😀"}';
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = {
      'webhook-id': 'evt_1',
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signStandard(signingKey(secret), 'evt_1', timestamp, Buffer.from(body)),
    };
    expect(new Webhook(secret).verify(body, headers)).toEqual({ text: 'ü€😀' });
    expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow('No matching signature found');
  });
});
