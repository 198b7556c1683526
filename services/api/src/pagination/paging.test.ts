import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createCursors } from './paging.ts';

const newKey = { id: 'new', key: randomBytes(32) };
const oldKey = { id: 'old', key: randomBytes(32) };
const cursors = createCursors([newKey, oldKey]);
const scope = { list: 'deliveries', organizationId: 'o', filters: { status: ['failed'] } };
const position = { sortKey: '2026-11-21T07:00:00.123456Z', id: '01948f00-0000-7000-8000-000000000001' };

const positions = fc.record({
  sortKey: fc
    .tuple(
      fc.date({ min: new Date(0), max: new Date('9999-12-31'), noInvalidDate: true }),
      fc.integer({ min: 0, max: 999 }),
    )
    .map(([date, micros]) => date.toISOString().replace('Z', `${String(micros).padStart(3, '0')}Z`)),
  id: fc.uuid(),
});

describe('a cursor', () => {
  it('encodes and decodes any position, to the microsecond', () => {
    fc.assert(
      fc.property(positions, (place) => expect(cursors.open(cursors.seal(place, scope), scope)).toEqual(place)),
    );
  });

  it.each([
    ['list', { ...scope, list: 'webhooks' }],
    ['organization', { ...scope, organizationId: 'p' }],
    ['filter', { ...scope, filters: { status: ['pending'] } }],
    ['filter more', { ...scope, filters: { ...scope.filters, since: new Date(0) } }],
    ['filter less', { ...scope, filters: {} }],
  ])('is refused for another %s', (_, other) => {
    expect(cursors.open(cursors.seal(position, scope), other)).toBeNull();
  });

  it('is valid for the same filters in any order, unset ones left out', () => {
    const first = { ...scope, filters: { a: '1', b: ['x', 'y'], c: undefined } };
    const second = { ...scope, filters: { b: ['y', 'x'], a: '1' } };
    expect(cursors.open(cursors.seal(position, first), second)).toEqual(position);
  });

  it('stays valid after a key rotation while the old key is in the ring', () => {
    const sealedBefore = createCursors([oldKey]).seal(position, scope);
    expect(cursors.open(sealedBefore, scope)).toEqual(position);
    expect(createCursors([newKey]).open(sealedBefore, scope)).toBeNull();
  });

  it('is refused when any one character is changed', () => {
    const sealed = cursors.seal(position, scope);
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.constantFrom(...'ABCxyz019-_=. '.split('')), (at, character) => {
        fc.pre(sealed[at] !== character);
        expect(cursors.open(sealed.slice(0, at) + character + sealed.slice(at + 1), scope)).toBeNull();
      }),
    );
  });

  it('is refused when it is arbitrary text', () => {
    fc.assert(fc.property(fc.string(), (text) => expect(cursors.open(text, scope)).toBeNull()));
  });
});
