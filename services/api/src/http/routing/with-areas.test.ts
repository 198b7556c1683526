import type { Area } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { undescribed } from '../../testing/undescribed.ts';
import { defineRoute } from './define-route.ts';
import { createRouteTable } from './route-table.ts';
import { withAreas } from './with-areas.ts';

const own = createRouteTable(
  (['GET /v1/me', 'GET /v1/usage'] as const).map((endpoint) =>
    defineRoute({ ...undescribed, endpoint, scope: 'usage:read', handle: () => undefined }),
  ),
);

function find(method: string, path: string, ...forwarded: Area[]): string {
  const operation = withAreas(own, new Set(forwarded)).find(method, path);
  if (operation.kind === 'route') return `own ${operation.route.path}`;
  if (operation.kind === 'area') return `${operation.area} ${operation.scope} ${operation.path}`;
  return operation.kind === 'other_method' ? `405 ${operation.allow} ${operation.path}` : '404';
}

describe('a table of routes with areas', () => {
  it.each([
    ['GET', '/v1/me', [], 'own /v1/me'],
    ['GET', '/v1/nothing', [], '404'],
    ['GET', '/v1/batches/7', [], 'batches batches:read /v1/batches'],
    ['GET', '/v1/batches/7', ['batches'], 'batches batches:read /v1/batches'],
    ['TRACE', '/v1/batches/7', [], '405 GET, HEAD, POST, PUT, PATCH, DELETE /v1/batches'],
    ['GET', '/v1/usage', [], 'own /v1/usage'],
    ['POST', '/v1/usage', [], '405 GET, HEAD /v1/usage'],
    ['GET', '/v1/usage/days', [], 'usage usage:read /v1/usage'],
    ['GET', '/v1/usage', ['batches'], 'own /v1/usage'],
    ['GET', '/v1/usage', ['usage'], 'usage usage:read /v1/usage'],
    ['POST', '/v1/usage', ['usage'], '405 GET, HEAD /v1/usage'],
  ] as const)('%s %s, with the upstreams %j: %s', (method, path, forwarded, found) => {
    expect(find(method, path, ...forwarded)).toBe(found);
  });
});
