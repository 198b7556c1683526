import { toPublicId } from '@enterprise-api/shared/runtime';
import { testInternalSecret } from '@enterprise-api/testkit';
import { seededRandom } from './random.ts';

/** Bytes of `data` as JSON. */
export const payloads = { usual: 1_024, large: 20 * 1_024 };

/** Several payloads of each size, so that no cache profits from equal texts. */
const variants = 16;

/** POST /internal/v1/events as bytes, one event each: all variants of the first organization, then of the next. */
export function eventRequests(organizationIds: readonly string[], payloadBytes: number): Uint8Array[] {
  const each = organizationIds.length > 1 ? 1 : variants;
  const random = seededRandom(payloadBytes);
  const texts = Array.from({ length: variants }, () => payload(payloadBytes, random));
  return organizationIds.flatMap((id, place) =>
    Array.from({ length: each }, (_, variant) => {
      const data = texts[(place + variant) % variants];
      const body = `{"organization_id":"${toPublicId('org', id)}","type":"consultation.completed","data":${data}}`;
      return request('POST', '/internal/v1/events', testInternalSecret, body);
    }),
  );
}

/** A whole HTTP/1.1 request with a bearer token. */
export function request(method: string, path: string, token: string, body?: string): Uint8Array {
  const head = [`${method} ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  const content =
    body === undefined ? [] : ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return new Uint8Array(Buffer.from(`${[...head, ...content].join('\r\n')}\r\n\r\n${body ?? ''}`));
}

const syllables = [
  'an',
  'be',
  'con',
  'de',
  'el',
  'for',
  'ga',
  'hin',
  'is',
  'ka',
  'lor',
  'mi',
  'nen',
  'op',
  'qua',
  'ri',
];

/** JSON of exactly this size in bytes, with random words. */
export function payload(bytes: number, random: () => number): string {
  const [start, end] = ['{"consultation_id":"con_1","text":"', '"}'];
  let text = '';
  const wanted = bytes - start.length - end.length;
  while (text.length < wanted) {
    for (let left = 1 + Math.floor(random() * 4); left > 0; left--) text += syllables[Math.floor(random() * 16)];
    text += ' ';
  }
  return `${start}${text.slice(0, wanted)}${end}`;
}
