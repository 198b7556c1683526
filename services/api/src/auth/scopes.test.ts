import { type RequiredScope, scopeNames } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { hasScope } from './scopes.ts';

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
