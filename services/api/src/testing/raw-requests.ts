import fc from 'fast-check';
import { placesOf, withTextAt } from './json-places.ts';
import type { ListedRoute } from './route-list.ts';

/** A request as it goes over the wire, taken apart. */
export interface RawRequest {
  /** Instead of the id in the path, when the route has one. */
  id: string | null;
  query: string;
  /** Instead of the right one, or beside it. */
  authorization: { value: string; beside: boolean } | null;
  headers: [name: string, value: string][];
  body: Buffer | null;
}

/** Bytes that may stand in a header's value; each is one character of a latin1 string. */
const headerText = fc.string({
  unit: fc
    .oneof(
      { arbitrary: fc.integer({ min: 0x20, max: 0x7e }), weight: 4 },
      { arbitrary: fc.constantFrom(0x09, 0x80, 0xa0, 0xc3, 0xff), weight: 1 },
    )
    .map((code) => String.fromCharCode(code)),
  maxLength: 40,
});

/** Everything between `?` and the space behind it, also characters that clients must escape. */
const queryText = fc.string({
  unit: fc.oneof(
    {
      arbitrary: fc.constantFrom(...'=&&&%+.;[]{}"\'\\/?~1aA-_'.split(''), '%00', '%ff', '%ed%a0%80', '%F0%9F%98%80'),
      weight: 3,
    },
    { arbitrary: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), weight: 1 },
  ),
  maxLength: 60,
});

const addresses = fc.oneof(
  fc
    .array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('127.0.0.1', 'unknown', '1.2.3.4:99', 'fe80::1%eth0', '')), {
      maxLength: 6,
    })
    .map((entries) => entries.join(', ')),
  headerText,
);

const tags = fc.constantFrom('*', '"1"', 'W/"1"', '"1", "2"', '"', '""', ',,,');
const knownHeaders: Record<string, fc.Arbitrary<string>> = {
  'X-Forwarded-For': addresses,
  'X-Request-Id': headerText,
  'If-Match': fc.oneof(tags, headerText),
  'If-None-Match': fc.oneof(tags, headerText),
  'Idempotency-Key': headerText,
  'Content-Type': fc.oneof(
    fc.constantFrom('application/json', 'application/json; charset=utf-16', 'text/plain', 'application/jsonp', ''),
    headerText,
  ),
  'Content-Encoding': fc.oneof(fc.constantFrom('gzip', 'identity', 'br, gzip'), headerText),
  Accept: headerText,
  Range: fc.constantFrom('bytes=0-0', 'bytes=9-1'),
  Expect: fc.oneof(fc.constant('100-continue'), headerText),
  Upgrade: fc.constantFrom('h2c', 'websocket'),
  TE: headerText,
  Cookie: headerText,
  Origin: headerText,
  'X-HTTP-Method-Override': fc.constantFrom('DELETE', 'GET', 'PUT'),
  Host: headerText,
};
const token = fc.stringMatching(/^x-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/);
const header: fc.Arbitrary<[string, string]> = fc.oneof(
  { arbitrary: fc.constantFrom(...Object.keys(knownHeaders)).chain((name) => namedHeader(name)), weight: 5 },
  { arbitrary: fc.tuple(token, headerText), weight: 1 },
);

function namedHeader(name: string): fc.Arbitrary<[string, string]> {
  return (knownHeaders[name] ?? headerText).map((value) => [name, value]);
}

const authorization = fc.oneof(
  headerText,
  headerText.map((text) => `Bearer ${text}`),
  fc.stringMatching(/^Bearer nwk_[0-9A-Za-z]{40,80}$/),
);

/** Requests for a route: correct ones, of which none, some or all parts are replaced by random bytes. */
export function rawRequestsFor(route: ListedRoute, validBody: unknown): fc.Arbitrary<RawRequest> {
  const names = Object.keys((route.query as { shape?: object } | undefined)?.shape ?? {});
  const parameter = fc
    .tuple(
      fc.constantFrom(...names, 'x', 'limit', 'cursor'),
      fc.oneof(queryText, fc.constantFrom('', '1', '-1', '%00')),
    )
    .map(([name, value]) => `${name}=${value}`);
  const query = fc.oneof(
    fc.constant(''),
    queryText,
    fc.array(parameter, { maxLength: 4 }).map((parts) => parts.join('&')),
  );
  return fc.record({
    id: fc.option(
      queryText.map((text) => text.replaceAll(/[?/]/g, 'x')),
      { freq: 4 },
    ),
    query,
    authorization: fc.option(fc.record({ value: authorization, beside: fc.boolean() }), { freq: 9 }),
    headers: fc.array(header, { maxLength: 4 }),
    body: route.body === undefined ? fc.option(bytes, { freq: 4 }) : bodyOf(validBody),
  });
}

const bytes = fc.uint8Array({ maxLength: 60 }).map((array) => Buffer.from(array));

function bodyOf(valid: unknown): fc.Arbitrary<Buffer | null> {
  const json = fc.json({ maxDepth: 3 });
  const spoilt = fc
    .tuple(fc.constantFrom(...placesOf(valid)), fc.oneof(json, fc.string()))
    .map(([place, text]) => Buffer.from(withTextAt(valid, place, text)));
  return fc.oneof(
    { arbitrary: fc.constant(Buffer.from(JSON.stringify(valid))), weight: 2 },
    { arbitrary: spoilt, weight: 4 },
    { arbitrary: json.map((text) => Buffer.from(text)), weight: 1 },
    { arbitrary: bytes, weight: 1 },
    { arbitrary: fc.constant(null), weight: 1 },
  );
}
