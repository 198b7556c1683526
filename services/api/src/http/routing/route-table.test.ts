import type { RequiredScope } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { undescribed } from '../../testing/undescribed.ts';
import { defineRoute, type Method } from './define-route.ts';
import { createRouteTable } from './route-table.ts';

function route(method: Method, path: `/${string}`, scope: RequiredScope | null = 'webhooks:read') {
  return defineRoute({ ...undescribed, endpoint: `${method} ${path}`, scope, handle: () => undefined });
}

const table = createRouteTable([
  route('GET', '/v1/webhooks'),
  route('POST', '/v1/webhooks'),
  route('GET', '/v1/webhooks/{id}'),
  route('DELETE', '/v1/webhooks/{id}'),
  route('GET', '/v1/webhooks/deliveries'),
  route('GET', '/v1/webhooks/deliveries/{id}'),
]);

function find(method: string, path: string): string {
  const target = table.find(method, path);
  if (target.kind === 'route') return `${target.route.path} ${JSON.stringify(target.rawIds)}`;
  return target.kind === 'other_method' ? `405 ${target.allow}` : '404';
}

describe('the route table', () => {
  it.each([
    ['GET', '/v1/webhooks', '/v1/webhooks {}'],
    ['GET', '/v1/webhooks/x', '/v1/webhooks/{id} {"id":"x"}'],
    ['GET', '/v1/webhooks/deliveries', '/v1/webhooks/deliveries {}'],
    ['GET', '/v1/webhooks/deliveries/d', '/v1/webhooks/deliveries/{id} {"id":"d"}'],
    ['GET', '/v1/webhooks/%zz', '/v1/webhooks/{id} {"id":"%zz"}'],
    ['PUT', '/v1/webhooks', '405 GET, HEAD, POST'],
    ['DELETE', '/v1/webhooks/deliveries', '405 GET, HEAD'],
    ['PATCH', '/v1/webhooks/x', '405 GET, HEAD, DELETE'],
    ['HEAD', '/v1/webhooks', '/v1/webhooks {}'],
    ['GET', '/v1/webhooks/', '404'],
    ['GET', '/v1/webhooks/x/', '404'],
    ['GET', '/v1/Webhooks', '404'],
    ['GET', '/v1', '404'],
    ['GET', '/v1/webhooks//x', '404'],
    ['GET', '', '404'],
    ['GET', '/v1/constructor', '404'],
  ])('%s %s: %s', (method, path, expected) => expect(find(method, path)).toBe(expected));

  it('refuses two routes for one method and path', () => {
    expect(() => createRouteTable([route('GET', '/a/{id}'), route('GET', '/a/{id}')])).toThrow('GET /a/{id}');
  });

  it('refuses two names for one parameter, whatever the methods', () => {
    const routes = [route('GET', '/a/{id}'), route('POST', '/a/{other}')];
    expect(() => createRouteTable(routes)).toThrow('POST /a/{other}: its parameters have other names in /a/{id}.');
  });

  it('refuses a route of /v1 without a scope, unless it says that anyone may call it', () => {
    expect(() => createRouteTable([route('GET', '/v1/x', null)])).toThrow('GET /v1/x: declare its scope');
    expect(() => createRouteTable([route('GET', '/internal/v1/x', null)])).not.toThrow();
    const open = {
      ...undescribed,
      scope: null,
      caller: 'anyone',
      handle: () => undefined,
    } as const;
    expect(() => createRouteTable([defineRoute({ ...open, endpoint: 'GET /v1/x' })])).not.toThrow();
    expect(() => createRouteTable([defineRoute({ ...open, endpoint: 'POST /v1/x' })])).toThrow(
      'POST /v1/x: anyone may only read.',
    );
  });
});
