import { describe, expect, it } from '@jest/globals';
import { noteNodeWarning, takeNodeWarnings } from './node-warnings.ts';

describe('the warnings of Node.js', () => {
  it.each([
    '(node:4711) DeprecationWarning: Calling client.query() when the client is already executing a query is deprecated',
    '(node:4711) [DEP0169] DeprecationWarning: `url.parse()` behavior is not standardized',
    '(node:4711) MaxListenersExceededWarning: Possible EventEmitter memory leak detected.',
    '(node:4711) Warning: Setting the NODE_TLS_REJECT_UNAUTHORIZED environment variable',
  ])('are found in the output of a service: %s', (line) => {
    noteNodeWarning('api', line);
    expect(takeNodeWarnings()).toEqual([`api: ${line}`]);
    expect(takeNodeWarnings()).toEqual([]);
  });

  it('are not found in log records that quote one', () => {
    noteNodeWarning('api', '{"level":"warn","msg":"(node:1) DeprecationWarning: text of a customer"}');
    expect(takeNodeWarnings()).toEqual([]);
  });
});
