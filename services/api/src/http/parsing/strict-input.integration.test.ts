import { errorBodySchema } from '@enterprise-api/shared/contracts';
import type { HttpAnswer } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { contentsOf } from '../../testing/contents.ts';
import { type Place, placesOf, withTextAt, withTextInside } from '../../testing/json-places.ts';
import { createRouteCases, type RouteCases } from '../../testing/route-cases.ts';
import { everyRoute, type ListedRoute } from '../../testing/route-list.ts';
import { startTestApi, type TestApi } from '../../testing/test-api.ts';

let api: TestApi;
let cases: RouteCases;
beforeAll(async () => {
  const environment = { API_TRUSTED_PROXIES: '127.0.0.1', API_RATE_LIMITS: 'enterprise=1000000' };
  api = await startTestApi({ environment });
  cases = createRouteCases(api);
  for (const route of routes) await cases.callWith(route, { query: 'nonsense=1' });
});
afterAll(() => api.stop());

const routes = everyRoute().filter(({ caller }) => caller !== 'any_key');
const named = (some: ListedRoute[]) => some.map((route) => [`${route.method} ${route.path}`, route] as const);
const withBody = named(routes.filter((route) => route.body !== undefined));

const contents = () => contentsOf(api.db);

const refusals = new Set(['invalid_json', 'validation_failed', 'url_not_allowed', 'invalid_cursor']);

/** What no refusal says: names and messages of our libraries, and stack traces. */
const internals = /zod|invalid input|expected|syntax|unexpected|postgres|constraint|\bat \//i;

/** A refusal of the contract that names its place. */
function expectRefused(answer: HttpAnswer, sent: string, place?: string): void {
  const { error } = errorBodySchema.safeParse(answer.body).data ?? {};
  const told = {
    status: answer.status,
    known: refusals.has(error?.code ?? ''),
    details: (error?.details ?? []).length > 0,
  };
  expect({ sent, ...told }).toEqual({ sent, status: 400, known: true, details: true });
  expect(error?.param).toBe(error?.details?.[0]?.path || error?.details?.[0]?.location);
  const paths = (error?.details ?? []).map((detail) => detail.path.replace(/\[\d+\]$/, ''));
  expect(place === undefined || paths.includes(place)).toBe(true);
  // A client may choose a name that looks like ours.
  const clientsOwn = (error?.details ?? []).filter(({ path }) => internals.test(path));
  const inText = (path: string) => JSON.stringify(path).slice(1, -1);
  const text = clientsOwn.reduce((left, { path }) => left.replaceAll(inText(path), ''), answer.text);
  expect(text).not.toMatch(internals);
}

const pathOf = (place: Place) =>
  place.reduce<string>(
    (left, part) => (typeof part === 'number' ? `${left}[${part}]` : left ? `${left}.${part}` : part),
    '',
  );

/** Whether the schema takes it: then it is not the schema that has to refuse it. */
function isAccepted({ body }: ListedRoute, text: string): boolean {
  return body?.safeParse(JSON.parse(text)).success ?? false;
}

const foreignTexts = [
  '1',
  '-0.5',
  '1e999',
  '9007199254740993',
  'true',
  'null',
  '"nonsense"',
  '""',
  '{}',
  '[]',
  '[null]',
  '{"a":{}}',
  JSON.stringify('x'.repeat(3_000)),
];
const unstorableTexts = ['"\\u0000"', '"a\\ud800"', '"\\udc00b"', '{"\\u0000":1}', '{"__proto__":{}}', '{"a":1,"a":2}'];
const deepText = '['.repeat(24) + ']'.repeat(24);

describe.each(withBody)('%s', (_name, route) => {
  it('refuses a value of a wrong type in any place, names the place, and changes nothing', async () => {
    const valid = await cases.validBody(route);
    const before = await contents();
    for (const place of placesOf(valid)) {
      for (const text of [...foreignTexts, ...unstorableTexts, deepText]) {
        const body = withTextAt(valid, place, text);
        if (foreignTexts.includes(text) && isAccepted(route, body)) continue;
        expectRefused(await cases.callWith(route, { body }), body);
      }
    }
    expect(await contents()).toBe(before);
  });

  it('refuses unknown and repeated fields in any object', async () => {
    const valid = await cases.validBody(route);
    const before = await contents();
    const [first = ''] = Object.keys(valid);
    for (const place of placesOf(valid).filter((each) => each.length === 0)) {
      for (const name of ['nonsense', 'constructor', '__proto__', 'ID', ' ']) {
        const body = withTextInside(valid, place, `"${name}":1`);
        expectRefused(await cases.callWith(route, { body }), body, pathOf([...place, name]));
      }
      const twice = withTextInside(valid, place, `"${first}":${JSON.stringify(valid[first])}`);
      expectRefused(await cases.callWith(route, { body: twice }), twice, first);
    }
    for (const [name, value] of Object.entries(valid).filter(([, each]) => Array.isArray(each))) {
      const doubled = JSON.stringify({ ...valid, [name]: [...(value as unknown[]), ...(value as unknown[])] });
      if (!isAccepted(route, doubled)) expectRefused(await cases.callWith(route, { body: doubled }), doubled, name);
    }
    expect(await contents()).toBe(before);
  });

  it('refuses a body that is not a JSON object in UTF-8', async () => {
    const valid = JSON.stringify(await cases.validBody(route));
    const before = await contents();
    // A body without any required field may be empty, or missing.
    const mustSaySomething = !isAccepted(route, '{}');
    const texts = [
      ...(mustSaySomething ? ['', '{}'] : []),
      '[]',
      'null',
      '1',
      '"x"',
      '{',
      `${valid},`,
      `\ufeff${valid}`,
      `[${valid}]`,
      valid.replaceAll('"', "'"),
      '[1,]',
    ];
    const bytes = [
      Buffer.from(valid, 'utf16le'),
      Buffer.from([0x22, 0xff, 0x22]),
      Buffer.from('"\xed\xa0\x80"', 'latin1'),
    ];
    for (const body of [...texts, ...bytes]) expectRefused(await cases.callWith(route, { body }), String(body));
    expect(await contents()).toBe(before);
  });

  it('never answers 5xx to any value in any one place', async () => {
    const valid = await cases.validBody(route);
    const before = await contents();
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...placesOf(valid)), fc.json({ maxDepth: 4 }), async (place, text) => {
        const body = withTextAt(valid, place, text);
        fc.pre(!isAccepted(route, body));
        expectRefused(await cases.callWith(route, { body }), body);
      }),
      { numRuns: 60 },
    );
    expect(await contents()).toBe(before);
  });
});

describe.each(named(routes))('the query of %s', (_name, route) => {
  it('is refused when a parameter is unknown, repeated or invalid', async () => {
    const valid = route.body === undefined ? undefined : JSON.stringify(await cases.validBody(route));
    const known = parametersOf(route);
    const queries: [query: string, place: string][] = [
      ['nonsense=1', 'nonsense'],
      ['__proto__=1', '__proto__'],
      ['constructor=1&%00=2', 'constructor'],
      ['LIMIT=1', 'LIMIT'],
      ...known.flatMap((name): [string, string][] =>
        ['', '%00', '%ff', 'nonsense', '-1', '1e999', '%7B%7D']
          .map((value) => `${name}=${value}`)
          .filter((query) => !accepts(route, query))
          .map((query) => [query, name]),
      ),
      ...known.map((name): [string, string] => [`${name}=x&${name}=y`, name]),
    ];
    for (const [query, place] of queries) {
      expectRefused(await cases.callWith(route, { query, body: valid }), query, place);
    }
  });
});

/** Whether a parameter takes any text, such as an id of the caller's own. */
const accepts = (route: ListedRoute, query: string) =>
  route.query?.safeParse(Object.fromEntries(new URLSearchParams(query))).success === true;

const parametersOf = (route: ListedRoute) => Object.keys((route.query as { shape?: object } | undefined)?.shape ?? {});

describe.each(named(routes.filter((route) => route.query !== undefined)))('the query of %s', (_name, route) => {
  it('never leads to a 5xx', async () => {
    const known = parametersOf(route);
    const part = fc.tuple(
      fc.constantFrom(...known, 'x'),
      fc.oneof(fc.string(), fc.string({ unit: 'binary' }).map(wellFormed)),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(part, { maxLength: 4 }), async (parts) => {
        const query = parts.map((each) => each.map(encodeURIComponent).join('=')).join('&');
        expect((await cases.callWith(route, { query })).status).toBeLessThan(500);
      }),
      { numRuns: 50 },
    );
  });
});

const wellFormed = (text: string) => text.toWellFormed();
