import { describe, expect, it } from '@jest/globals';
import { parseKeyRing } from './secret-box.ts';

const one = Buffer.alloc(32, 1).toString('base64');
const two = Buffer.alloc(32, 2).toString('base64');

describe('the key ring of the settings', () => {
  it('keeps the order of the keys', () => {
    const ring = parseKeyRing(`new:${one}, old:${two}`);
    expect(ring).toEqual({
      ok: true,
      keys: [
        { id: 'new', key: Buffer.alloc(32, 1) },
        { id: 'old', key: Buffer.alloc(32, 2) },
      ],
    });
  });

  it.each([
    ['', 'key 1 must be written as id:base64'],
    [one, 'key 1 must be written as id:base64'],
    [`a:${one},`, 'key 2 must be written as id:base64'],
    [`a:${one}:x`, 'key 1 must be written as id:base64'],
    [`a.b:${one}`, 'key 1: the id must be 1 to 32 of A-Z a-z 0-9 _ -'],
    [`a:${one},a:${two}`, 'key 2: the id a is used twice'],
    ['a:not base64!', 'key 1 (a) is not base64'],
    [`a:${Buffer.alloc(31).toString('base64')}`, 'key 1 (a) must be 32 bytes, not 31'],
  ])('%j is a problem', (text, problem) => {
    expect(parseKeyRing(text)).toEqual({ ok: false, problems: [problem] });
  });

  it('reports all problems at once, without the bytes of any key', () => {
    const ring = parseKeyRing(`${one}:a,b:${Buffer.alloc(16).toString('base64')}`);
    expect(ring.ok).toBe(false);
    expect('problems' in ring && ring.problems).toHaveLength(2);
    expect(JSON.stringify(ring)).not.toContain(one);
  });
});
