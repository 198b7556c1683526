import { afterAll } from '@jest/globals';
import { takeNodeWarnings } from './node-warnings.ts';

// Loaded by jest beside every test file that may start services: the file fails when one of them wrote a warning.
afterAll(() => {
  const warnings = takeNodeWarnings();
  if (warnings.length > 0) throw new Error(`Warnings of Node.js in the output of services:\n${warnings.join('\n')}`);
});
