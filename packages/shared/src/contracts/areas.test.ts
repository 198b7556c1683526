import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { areaCatalogue, areaNames, areaOperation, usageAreaNames, usageAreaOf, usageAreaOfScope } from './areas.ts';
import { type RequiredScope, scopeNames } from './scopes.ts';

const all = 'GET, HEAD, POST, PUT, PATCH, DELETE';

/** The table of the contract, written out once more: a mistake in the catalogue must not be its own test. */
const expected: [methods: string, path: string, area: string | null, scope: string | null, allow?: string][] = [
  ['GET HEAD', '/v1/consultations', 'consultations', 'consultations:read', all],
  ['POST PUT PATCH DELETE', '/v1/consultations/con_1/cancel', 'consultations', 'consultations:write', all],
  ['OPTIONS TRACE PROPFIND QUERY get Post', '/v1/consultations', 'consultations', null, all],
  ['GET HEAD', '/v1/batches/', 'batches', 'batches:read', all],
  ['POST PUT PATCH DELETE', '/v1/batches/7', 'batches', 'batches:write', all],
  ['GET HEAD', '/v1/panels/7', 'panels', 'panels:read', 'GET, HEAD'],
  ['POST PUT PATCH DELETE', '/v1/panels', 'panels', null, 'GET, HEAD'],
  ['GET HEAD', '/v1/usage/days', 'usage', 'usage:read', 'GET, HEAD'],
  ['POST DELETE', '/v1/usage', 'usage', null, 'GET, HEAD'],
  ['GET HEAD', '/v1/automations/7/runs', 'automations', 'automations:read', all],
  ['GET HEAD', '/v1/automations/7/trigger', 'automations', 'automations:read', all],
  ['POST', '/v1/automations/7/trigger', 'automations', 'automations:trigger', all],
  ['POST', '/v1/automations/7/trigger/', 'automations', 'automations:trigger', all],
  ['POST', '/v1/automations/7/trigger;a=b', 'automations', 'automations:trigger', all],
  ['POST', '/v1/automations/7/trigger;/', 'automations', 'automations:trigger', all],
  ['POST', '/v1/automations/7;a/trigger', 'automations', 'automations:trigger', all],
  ['POST', '/v1/automations/7/triggers', 'automations', 'automations:write', all],
  ['POST', '/v1/automations/7/trigger/now', 'automations', 'automations:write', all],
  ['POST', '/v1/automations/trigger', 'automations', 'automations:write', all],
  ['PUT PATCH DELETE', '/v1/automations/7/trigger', 'automations', 'automations:write', all],
  ['POST', '/v1/chat/completions', 'chat', 'chat.completions', 'POST'],
  ['GET HEAD PUT DELETE', '/v1/chat/completions', 'chat', null, 'POST'],
  ['GET HEAD', '/scim/v2', 'scim', 'scim:read', all],
  ['POST', '/scim/v2/Users/.search', 'scim', 'scim:read', all],
  ['POST', '/scim/v2/.search', 'scim', 'scim:read', all],
  ['PUT PATCH DELETE', '/scim/v2/Users/.search', 'scim', 'scim:write', all],
  ['POST', '/scim/v2/Users/.search/', 'scim', 'scim:write', all],
  ['POST', '/scim/v2/Users/.search;x', 'scim', 'scim:write', all],
  ['POST PUT PATCH DELETE', '/scim/v2/Users/7', 'scim', 'scim:write', all],
  ['GET POST', '/v1/chat/completions/', null, null],
  ['GET POST', '/v1/chat', null, null],
  ['GET POST', '/v1/consultations;x', null, null],
  ['GET POST', '/v1/consultationsx', null, null],
  ['GET POST', '/v1/Consultations', null, null],
  ['GET POST', '/v2/consultations', null, null],
  ['GET POST', '/scim/v2x', null, null],
  ['GET POST', '/scim', null, null],
  ['GET POST', '/v1', null, null],
  ['GET POST', '/v1/', null, null],
  ['GET POST', '/v1/me', null, null],
  ['GET POST', '/v1/webhooks', null, null],
  ['GET POST', '/', null, null],
  ['GET POST', '*', null, null],
  ['GET POST', '', null, null],
  ['GET POST', '/constructor/__proto__', null, null],
];

describe('the catalogue of areas', () => {
  it.each(
    expected.flatMap(([methods, path, area, scope, allow]) =>
      methods.split(' ').map((method) => [method, path, area, scope, allow] as const),
    ),
  )('%s %s: %s, %s', (method, path, area, scope, allow) => {
    expect(areaOperation(method, path)).toEqual(area === null ? null : { area, scope, allow });
  });

  it('begins each area at a path of its own, two segments long unless it is the only path', () => {
    const rows = areaNames.map((area) => areaCatalogue[area]);
    expect(new Set(rows.map(({ path }) => path)).size).toBe(rows.length);
    for (const { path, below } of rows) expect(below ? path.split('/').length : 3).toBe(3);
  });
});

describe('docs/reference/areas.md', () => {
  const lines = readFileSync(new URL('../../../../docs/reference/areas.md', import.meta.url), 'utf8').split('\n');

  it.each(areaNames)('has a row with the path and every scope of %s', (area) => {
    const { path, scopes, exception } = areaCatalogue[area];
    const row = lines.find((line) => line.startsWith(`| \`${area}\` |`)) ?? '';
    for (const word of [path, ...Object.values(scopes), ...(exception === undefined ? [] : [exception.scope])]) {
      expect(row).toContain(word);
    }
  });
});

describe('the usage area of a request', () => {
  it.each([
    ['/v1/me', 'me'],
    ['/v1/webhooks', 'webhooks'],
    ['/v1/webhooks/whk_1/test', 'webhooks'],
    ['/v1/batches/7', 'batches'],
    ['/v1/chat/completions', 'chat'],
    ['/v1/chat', undefined],
    ['/scim/v2/Users', 'scim'],
    ['/v1/nothing', undefined],
    ['/healthz', undefined],
  ])('%s: %s', (path, area) => expect(usageAreaOf(path)).toBe(area));

  it('is named by every scope', () => {
    const required = scopeNames.filter((scope): scope is RequiredScope => scope !== '*');
    expect(new Set(required.map(usageAreaOfScope))).toEqual(new Set(usageAreaNames));
    expect(usageAreaOfScope('chat.completions')).toBe('chat');
  });
});
