import { createHmac } from 'node:crypto';
import type { SignatureComputation } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { explainComputed } from './explain-computed.ts';

const base64 = Buffer.alloc(32, 9).toString('base64');
const secret = `whsec_${base64}`;
const decoded = Buffer.from(base64, 'base64');
const id = 'evt_1';
const timestamp = '1764000000';
const storedBody = Buffer.from(
  '{"type":"batch.failed","data":{"name":"Zoë 𝄞","list":[1,{"b":true,"a":null}],"batch_id":"b"}}',
);
const value: unknown = JSON.parse(storedBody.toString());
const standardText = `${id}.${timestamp}.${storedBody.toString()}`;
const hex = (key: string | Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest('hex');
const b64 = (key: string | Buffer, text: string | Buffer) => createHmac('sha256', key).update(text).digest('base64');
/** What `json.dumps` of Python writes, and with `sort_keys=True`. */
const python =
  '{"type": "batch.failed", "data": {"name": "Zo\\u00eb \\ud834\\udd1e", "list": [1, {"b": true, "a": null}], "batch_id": "b"}}';
const pythonSorted =
  '{"data": {"batch_id": "b", "list": [1, {"a": null, "b": true}], "name": "Zo\\u00eb \\ud834\\udd1e"}, "type": "batch.failed"}';
const sorted = '{"data":{"batch_id":"b","list":[1,{"a":null,"b":true}],"name":"Zoë 𝄞"},"type":"batch.failed"}';

const cases: [string, string, SignatureComputation][] = [
  ['X-Service-Signature', hex(secret, storedBody), 'correct'],
  ['an entry of webhook-signature', `v1,${b64(decoded, standardText)}`, 'correct'],
  ['such an entry without version', b64(decoded, standardText), 'correct'],
  ['with the decoded secret', hex(decoded, storedBody), 'secret_decoded'],
  ['with the whole secret as text', `v1,${b64(secret, standardText)}`, 'secret_not_decoded'],
  ['with the rest of the secret as text', b64(base64, standardText), 'secret_not_decoded'],
  ['without whsec_', hex(base64, storedBody), 'secret_without_prefix'],
  ['with v1,whsec_', hex(`v1,${secret}`, storedBody), 'secret_with_version'],
  ['with v1,whsec_, decoded', b64(Buffer.from(`v1,${secret}`, 'base64'), standardText), 'secret_with_version'],
  ['with a line break', hex(`${secret}\n`, storedBody), 'secret_with_whitespace_or_quotes'],
  ['in quotes', hex(`"${secret}"`, storedBody), 'secret_with_whitespace_or_quotes'],
  ['in quotes, over id and time', b64(`'${secret}'`, standardText), 'secret_with_whitespace_or_quotes'],
  ['as base64', b64(secret, storedBody), 'base64_not_hex'],
  ['as hex', hex(decoded, standardText), 'hex_not_base64'],
  ['over indented JSON', hex(secret, JSON.stringify(value, null, 2)), 'body_reserialized'],
  ["over Python's JSON", hex(secret, python), 'body_reserialized'],
  ["over Python's sorted JSON", b64(decoded, `${id}.${timestamp}.${pythonSorted}`), 'body_reserialized'],
  ['over sorted JSON', hex(secret, sorted), 'body_reserialized'],
  ['over the body alone', b64(decoded, storedBody), 'without_timestamp'],
  ['over id and body', `v1,${b64(decoded, `${id}.${storedBody.toString()}`)}`, 'without_timestamp'],
  ['with another secret', hex('whsec_x', storedBody), 'unknown'],
  ['in no known encoding', 'sha256=1234', 'unknown'],
];

describe('explaining a computed signature', () => {
  it.each(cases)('%s', (_name, given, expected) => {
    const computed = { secrets: [secret], id, timestamp, storedBody };
    expect(explainComputed(given, { ...computed, body: storedBody })).toBe(expected);
    expect(explainComputed(given, { ...computed, secrets: ['whsec_AAAA', secret], body: Buffer.alloc(0) })).toBe(
      expected,
    );
  });

  it('recognizes compact JSON of a body that is not', () => {
    const spaced = Buffer.from('{"a": 1}');
    const computed = { secrets: [secret], id, timestamp, storedBody: spaced, body: spaced };
    expect(explainComputed(hex(secret, '{"a":1}'), computed)).toBe('body_reserialized');
  });

  const long =
    '{"b":[0.00001,0.0001,-1e-7,5e-324,1e+21,1234567890123456.5,12345678901234567.5,12345678901234567890,1.5000000000000000,0],"a":-0.5}';
  it.each([
    // Python wrote these two.
    '{"b": [1e-05, 0.0001, -1e-07, 5e-324, 1e+21, 1234567890123456.5, 1.2345678901234568e+16, 12345678901234567890, 1.5, 0], "a": -0.5}',
    '{"a": -0.5, "b": [1e-05, 0.0001, -1e-07, 5e-324, 1e+21, 1234567890123456.5, 1.2345678901234568e+16, 12345678901234567890, 1.5, 0]}',
    // A parser that keeps every digit, and one that does not.
    '{"a":-0.5,"b":[0.00001,0.0001,-1e-7,5e-324,1e+21,1234567890123456.5,12345678901234567.5,12345678901234567890,1.5000000000000000,0]}',
    JSON.stringify(JSON.parse(long)),
  ])('recognizes the numbers of %s', (text) => {
    const body = Buffer.from(long);
    const computed = { secrets: [secret], id, timestamp, storedBody: body, body };
    expect(explainComputed(hex(secret, text), computed)).toBe('body_reserialized');
  });

  it('without the stored body, explains by the received one', () => {
    const computed = { secrets: [secret], id, timestamp, storedBody: null, body: Buffer.from('{"b":1, "a":2}') };
    expect(explainComputed(hex(decoded, computed.body), computed)).toBe('secret_decoded');
    expect(explainComputed(hex(secret, '{"b":1,"a":2}'), computed)).toBe('body_reserialized');
    expect(explainComputed(hex(secret, '{"a": 2, "b": 1}'), computed)).toBe('body_reserialized');
    expect(explainComputed(hex(secret, 'a'), { ...computed, body: Buffer.from('no JSON') })).toBe('unknown');
  });
});
