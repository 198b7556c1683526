import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromPublicId, newUuid, toPublicId, uuidTimeMs, withUuidTime } from './ids.ts';

const uuid = fc.uuid();

describe('public ids', () => {
  it('are the prefix, an underscore and 26 characters, and lead back to the UUID', () => {
    fc.assert(
      fc.property(uuid, (id) => {
        const publicId = toPublicId('evt', id);
        expect(publicId).toMatch(/^evt_[0-7][0-9a-hjkmnp-tv-z]{25}$/);
        expect(fromPublicId('evt', publicId)).toBe(id);
      }),
    );
  });

  it('follow the TypeID layout', () => {
    // The example of the TypeID specification.
    expect(toPublicId('user', '01889c89-df6b-7f1c-a388-91396ec314bc')).toBe('user_01h2e8kqvbfwea724h75qc655w');
  });

  it('keep the order of their UUIDs', () => {
    fc.assert(
      fc.property(uuid, uuid, (left, right) => {
        expect(toPublicId('evt', left) < toPublicId('evt', right)).toBe(left < right);
      }),
    );
  });

  it('of another kind, too large, or misspelt are none', () => {
    const id = toPublicId('evt', newUuid());
    const suffix = id.slice(4);
    const wrong = [
      `dlv_${suffix}`,
      suffix,
      `evt_8${suffix.slice(1)}`,
      `evt_${suffix.toUpperCase()}`,
      `${id}0`,
      `evt_${'u'.repeat(26)}`,
    ];
    for (const text of wrong.filter((candidate) => candidate !== id)) expect(fromPublicId('evt', text)).toBeNull();
  });

  it('are never made of arbitrary text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = fromPublicId('evt', text);
        expect(found === null ? text : toPublicId('evt', found)).toBe(text);
      }),
    );
  });
});

describe('the time in a UUID', () => {
  it('is the time it was made', () => {
    const before = Date.now();
    const time = uuidTimeMs(newUuid());
    expect(time).toBeGreaterThanOrEqual(before - 1);
    expect(time).toBeLessThanOrEqual(Date.now() + 1);
  });

  it('can be set, and nothing else changes', () => {
    fc.assert(
      fc.property(uuid, fc.integer({ min: 0, max: 2 ** 48 - 1 }), (id, time) => {
        const moved = withUuidTime(id, time);
        expect(uuidTimeMs(moved)).toBe(time);
        expect(moved.slice(13)).toBe(id.slice(13));
        expect(moved).toHaveLength(36);
      }),
    );
  });
});
