import { areaOperation, type ErrorCode, errorBodySchema, errorCatalogue } from '@enterprise-api/shared/contracts';
import type { HttpAnswer } from '@enterprise-api/testkit';
import { expect } from '@jest/globals';
import { everyRoute } from './route-list.ts';
import type { AnyRoute, Wrong } from './wrongs.ts';

const rateHeaders = [
  'ratelimit',
  'ratelimit-policy',
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
] as const;
export const isInternal = (route: AnyRoute) => route.path.startsWith('/internal/');

/** `Allow` of the path of a route: the methods of its own routes, or those of its area. */
function allowOf({ method, path }: AnyRoute): string {
  const own = everyRoute().filter((route) => route.path === path);
  if (own.length === 0) return areaOperation(method, path)?.allow ?? '';
  return own.flatMap((route) => (route.method === 'GET' ? ['GET', 'HEAD'] : [route.method])).join(', ');
}

/** Checks the headers that every answer has. */
export function expectCommonHeaders(answer: HttpAnswer, route: AnyRoute, isCounted: boolean): void {
  const { headers } = answer;
  expect(headers['x-request-id']).toBe('test.request-1');
  expect(headers['cache-control']).toBe('no-store');
  const counted = isCounted && !isInternal(route);
  expect(rateHeaders.filter((name) => headers[name] !== undefined)).toEqual(counted ? rateHeaders : []);
  if (!counted) return;
  expect(headers.ratelimit).toMatch(/^"organization";r=\d+;t=([1-9]|[1-5]\d|60)$/);
  expect(headers['ratelimit-policy']).toBe(`"organization";q=${String(headers['x-ratelimit-limit'])};w=60`);
  const resetInS = Number(headers['x-ratelimit-reset']) - Date.now() / 1_000;
  expect(resetInS > -1 && resetInS < 62).toBe(true);
}

/** Checks a refusal: its status, its headers, and its body unless the method was HEAD. */
export function expectError(answer: HttpAnswer, route: AnyRoute, wrong: Pick<Wrong, 'code' | 'stage'>): void {
  const { headers } = answer;
  const { code, stage } = wrong;
  const isScim = route.path.startsWith('/scim/');
  expect([answer.status, headers['content-type']]).toEqual([
    errorCatalogue[code].status,
    `application/${isScim ? 'scim+json' : 'json'}; charset=utf-8`,
  ]);
  expectCommonHeaders(answer, route, stage >= 4);
  expect(headers.allow).toBe(code === 'method_not_allowed' ? allowOf(route) : undefined);
  expect(headers['retry-after'] !== undefined).toBe(code === 'rate_limited');
  const challenge = {
    unauthorized: /^Bearer realm="/,
    forbidden_scope: new RegExp(`^Bearer .*error="insufficient_scope", scope="${route.scope}"`),
  };
  expect(headers['www-authenticate'] ?? '').toMatch(challenge[code as keyof typeof challenge] ?? /^$/);
  // An answer to HEAD has no body.
  if ((route.method as string) === 'HEAD' && answer.text === '') return;
  if (isScim) expectScimBody(answer, code);
  else expectBody(answer, route, wrong);
}

function expectScimBody({ body }: HttpAnswer, code: ErrorCode): void {
  expect(body).toEqual({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    status: String(errorCatalogue[code].status),
    detail: expect.stringMatching(new RegExp(`^${code}: \\S.+\\.$`)),
  });
}

function expectBody({ body, headers }: HttpAnswer, route: AnyRoute, { code, stage }: Pick<Wrong, 'code' | 'stage'>) {
  expect(Object.keys(body)).toEqual(['error']);
  const { error } = errorBodySchema.parse(body);
  expect(error).toMatchObject({ type: errorCatalogue[code].type, code, request_id: 'test.request-1' });
  expect(error.message).toMatch(/^\S.+\.$/);
  expect(error.retry_after).toBe(code === 'rate_limited' ? Number(headers['retry-after']) : undefined);
  expect(error.required_scope).toBe(code === 'forbidden_scope' ? route.scope : undefined);
  const namesPlace = stage >= 7 && stage <= 10;
  expect([error.param !== undefined, (error.details ?? []).length > 0]).toEqual([namesPlace, namesPlace]);
}
