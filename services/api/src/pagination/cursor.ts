import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@enterprise-api/shared/security';

/** Where a page ended: the sort key of its last row. Microseconds and all, hence text and not a Date. */
export interface Position {
  createdAt: string;
  /** UUID */
  id: string;
}

/** What a cursor is good for: this list, of this organization, with these filters, and nothing else. */
export interface CursorScope {
  list: string;
  organizationId: string | null;
  filters: Readonly<Record<string, unknown>>;
}

export interface Cursors {
  seal(position: Position, scope: CursorScope): string;
  /** The position, or null for anything that we did not seal for this scope. */
  open(cursor: string, scope: CursorScope): Position | null;
}

const macBytes = 16;
const positionPattern = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Opaque cursors: the position and a MAC over it and its scope. Signed with a key of its own, derived from the ring's
 * first; cursors of the other keys are good as long as those are in the ring.
 */
export function createCursors(ring: KeyRing): Cursors {
  const keys = ring.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'enterprise-api list cursor', 32)));
  const macOf = (key: Buffer, position: string, scope: CursorScope) => {
    const text = JSON.stringify([position, scope.list, scope.organizationId, sorted(scope.filters)]);
    return createHmac('sha256', key).update(text).digest().subarray(0, macBytes);
  };
  return {
    seal: ({ createdAt, id }, scope) => {
      const position = `${createdAt} ${id}`;
      const mac = macOf(keys[0] as Buffer, position, scope);
      return Buffer.concat([mac, Buffer.from(position)]).toString('base64url');
    },
    open: (cursor, scope) => {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding skips what is no base64url: only the one spelling that we wrote is ours.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) return null;
      const position = bytes.subarray(macBytes).toString('latin1');
      const mac = bytes.subarray(0, macBytes);
      if (!keys.some((key) => timingSafeEqual(mac, macOf(key, position, scope)))) return null;
      const [, createdAt, id] = positionPattern.exec(position) ?? [];
      return createdAt !== undefined && id !== undefined ? { createdAt, id } : null;
    },
  };
}

/** One spelling per set of filters: neither their order nor the order of a repeated one makes another list. */
function sorted(filters: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, unknown] => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
