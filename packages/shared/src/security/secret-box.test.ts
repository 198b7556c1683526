import { createDecipheriv, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { createSecretBox, SecretUnavailableError } from './secret-box.ts';

const first = { id: 'k1', key: randomBytes(32) };
const second = { id: 'k2', key: randomBytes(32) };
const aad = 'org_1/whk_1/signing';

describe('a sealed secret', () => {
  it('opens for the place that it was sealed for', () => {
    const box = createSecretBox([first]);
    for (const secret of ['', 'whsec_abc', 'ü€😀']) expect(box.open(box.seal(secret, aad), aad)).toBe(secret);
  });

  it('is AES-256-GCM with a fresh nonce and a complete tag', () => {
    const sealed = createSecretBox([first]).seal('whsec_abc', aad);
    expect(sealed).toMatch(/^v1\.k1\.[\w-]{16}\.[\w-]+$/);
    expect(createSecretBox([first]).seal('whsec_abc', aad)).not.toBe(sealed);
    const [, , nonce = '', text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    const decipher = createDecipheriv('aes-256-gcm', first.key, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
      .setAAD(Buffer.from(aad))
      .setAuthTag(bytes.subarray(-16));
    expect(`${decipher.update(bytes.subarray(0, -16), undefined, 'utf8')}${decipher.final('utf8')}`).toBe('whsec_abc');
  });

  it('is sealed with the first key of the ring and opened with any', () => {
    const old = createSecretBox([first]).seal('secret', aad);
    const rotated = createSecretBox([second, first]);
    expect(rotated.open(old, aad)).toBe('secret');
    expect(rotated.seal('secret', aad)).toMatch(/^v1\.k2\./);
  });

  it('does not open for another place, with another key, altered, cut, or in another format', () => {
    const box = createSecretBox([first]);
    const sealed = box.seal('secret', aad);
    const [format, id, nonce, text = ''] = sealed.split('.');
    const bytes = Buffer.from(text, 'base64url');
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(0) ^ 1, 0);
    const attempts: [string, string][] = [
      [sealed, 'org_1/whk_2/signing'],
      [`${format}.${id}.${nonce}.${flipped.toString('base64url')}`, aad],
      // A tag cut to 4 bytes, which Node takes unless it is told the length.
      [`${format}.${id}.${nonce}.${bytes.subarray(0, -12).toString('base64url')}`, aad],
      [`${format}.${id}.${nonce}.${bytes.subarray(0, 8).toString('base64url')}`, aad],
      [`${format}.${id}..${text}`, aad],
      [`v2.${id}.${nonce}.${text}`, aad],
      [`${sealed}.x`, aad],
      ['', aad],
      ['whsec_plain', aad],
    ];
    for (const [candidate, place] of attempts) {
      expect(() => box.open(candidate, place)).toThrow(SecretUnavailableError);
    }
    expect(() => createSecretBox([second]).open(sealed, aad)).toThrow(SecretUnavailableError);
    expect(() => createSecretBox([{ ...second, id: 'k1' }]).open(sealed, aad)).toThrow(SecretUnavailableError);
  });

  it('cannot be sealed with a key of another length', () => {
    expect(() => createSecretBox([{ id: 'short', key: randomBytes(16) }])).toThrow('32 bytes');
  });
});
