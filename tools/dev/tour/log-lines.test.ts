import { describe, expect, it } from '@jest/globals';
import { readableLogLine } from './log-lines.ts';

describe('readableLogLine', () => {
  it.each([
    ['{"level":"info","msg":"listening","port":3000}', 'info: listening'],
    [
      '{"level":"fatal","msg":"could not start","err":{"message":"no database"}}',
      'fatal: could not start: no database',
    ],
    ['api: the settings are not usable:', 'api: the settings are not usable:'],
    ['{"other":"json"}', '{"other":"json"}'],
    ['', ''],
  ])('%s → %s', (line, readable) => {
    expect(readableLogLine(line)).toBe(readable);
  });
});
