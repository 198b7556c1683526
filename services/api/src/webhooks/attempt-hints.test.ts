import { readFileSync } from 'node:fs';
import { attemptErrors, attemptHints, hintOf, statusHints } from '@enterprise-api/shared/contracts';
import { expect, it } from '@jest/globals';

it('the page for customers has every hint, in the same words', () => {
  const page = readFileSync(new URL('../../../../docs/customers/debug-a-delivery.md', import.meta.url), 'utf8');
  const hints = [...Object.values(attemptHints), ...Object.values(statusHints)];
  expect(hints.filter((hint) => !page.includes(hint))).toEqual([]);
});

it('every error and status has a hint; a status without its own has the one of its class', () => {
  expect(attemptErrors.filter((error) => hintOf(error, 500) === '')).toEqual([]);
  expect(hintOf('http_error', 401)).toBe(statusHints[401]);
  expect(hintOf('http_error', 418)).toBe(statusHints[4]);
  expect(hintOf('http_error', 503)).toBe(statusHints[5]);
});
