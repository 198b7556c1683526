import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import type { KeyRing } from '@enterprise-api/shared/security';

/** Where a row stands in its list: by its sort key, and among rows with the same one by its id. */
export interface Position {
  /** `created_at` as text, because a Date has no microseconds; of an event that is read in both orders, its position. */
  sortKey: string;
  /** UUID */
  id: string;
}

/** A cursor is valid for one list of one organization with the same filters. */
export interface CursorScope {
  list: string;
  organizationId: string | null;
  filters: Readonly<Record<string, unknown>>;
}

export interface Cursors {
  seal(position: Position, scope: CursorScope): string;
  /** The position, or null for any text that was not sealed for this scope. */
  open(cursor: string, scope: CursorScope): Position | null;
}

const macBytes = 16;
const positionPattern =
  /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z|\d{1,15}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/;

/**
 * Makes opaque cursors: the position, and a MAC over the position and its scope. The MAC keys are derived from the key
 * ring. The first one signs; cursors signed with the others stay valid while those are in the ring.
 */
export function createCursors(ring: KeyRing): Cursors {
  const keys = ring.map(({ key }) => Buffer.from(hkdfSync('sha256', key, '', 'enterprise-api list cursor', 32)));
  const macOf = (key: Buffer, position: string, scope: CursorScope) => {
    const text = JSON.stringify([position, scope.list, scope.organizationId, sorted(scope.filters)]);
    return createHmac('sha256', key).update(text).digest().subarray(0, macBytes);
  };
  return {
    seal: ({ sortKey, id }, scope) => {
      const position = `${sortKey} ${id}`;
      const mac = macOf(keys[0] as Buffer, position, scope);
      return Buffer.concat([mac, Buffer.from(position)]).toString('base64url');
    },
    open: (cursor, scope) => {
      const bytes = Buffer.from(cursor, 'base64url');
      // Decoding ignores characters that are not base64url, so the text must be exactly what encoding gives.
      if (bytes.length <= macBytes || bytes.toString('base64url') !== cursor) return null;
      const position = bytes.subarray(macBytes).toString('latin1');
      const mac = bytes.subarray(0, macBytes);
      if (!keys.some((key) => timingSafeEqual(mac, macOf(key, position, scope)))) return null;
      const [, sortKey, id] = positionPattern.exec(position) ?? [];
      return sortKey !== undefined && id !== undefined ? { sortKey, id } : null;
    },
  };
}

/** The same text for the same filters, whatever their order and the order of repeated values. */
function sorted(filters: Readonly<Record<string, unknown>>): [string, unknown][] {
  return Object.entries(filters)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]): [string, unknown] => [name, Array.isArray(value) ? [...new Set(value)].sort() : value])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}
