import { type RequiredScope, scopeNames } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { hasScope, scopeOfUnservedPath } from './authorize.ts';

const required = scopeNames.filter((scope): scope is RequiredScope => scope !== '*');

describe('a scope', () => {
  it.each(required)('%s is granted by itself and by *, and by no other', (scope) => {
    expect(hasScope([scope], scope)).toBe(true);
    expect(hasScope(['*'], scope)).toBe(true);
    expect(
      hasScope(
        required.filter((other) => other !== scope),
        scope,
      ),
    ).toBe(false);
    expect(hasScope([], scope)).toBe(false);
  });
});

describe('the scope of a path that is not served', () => {
  it.each([
    ['POST', '/v1/chat/completions', 'chat.completions'],
    ['GET', '/v1/chat/completions', 'chat.completions'],
    ['GET', '/scim/v2/Users', 'scim:read'],
    ['GET', '/scim/v2', 'scim:read'],
    ['POST', '/scim/v2/Users', 'scim:write'],
    ['DELETE', '/scim/v2/Groups/1', 'scim:write'],
    ['GET', '/v1/nothing', null],
    ['GET', '/v1/chat/completions/', null],
    ['GET', '/scim/v2x', null],
  ])('%s %s: %s', (method, path, scope) => expect(scopeOfUnservedPath(method, path)).toBe(scope));
});
