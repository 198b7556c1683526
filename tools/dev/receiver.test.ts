import { createHmac } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { verifySignature } from './receiver.ts';

const secret = 'whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=';
const body = Buffer.from('{"id":"evt_1","text":"é"}');
const signature = createHmac('sha256', secret).update(body).digest('hex');

describe('verifySignature', () => {
  it('accepts the HMAC of the raw body with the whole secret as key', () => {
    expect(verifySignature(body, signature, secret)).toBe(true);
  });

  it.each([
    ['another body', Buffer.from('{}'), signature],
    ['one byte more', Buffer.concat([body, Buffer.from(' ')]), signature],
    ['upper case', body, signature.toUpperCase()],
    ['half of it', body, signature.slice(0, 32)],
    ['more than it', body, `${signature}00`],
    ['none', body, ''],
    ['anything else', body, 'sha256='.concat(signature)],
  ])('refuses %s', (_what, bytes, given) => {
    expect(verifySignature(bytes, given, secret)).toBe(false);
  });
});
