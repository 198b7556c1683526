import { describe, expect, it } from '@jest/globals';
import { canReadOurFile } from './compose-version.ts';

describe('canReadOurFile', () => {
  it.each(['2.20.2', 'v2.20.2', '2.21.0', '2.39.1-desktop.1', '5.0.0\n'])('accepts Compose %j', (version) => {
    expect(canReadOurFile(version)).toBe(true);
  });

  it.each(['1.29.2', '2.6.0', 'v2.20.1', '2.18.10', '', 'unknown'])('refuses Compose %j', (version) => {
    expect(canReadOurFile(version)).toBe(false);
  });
});
