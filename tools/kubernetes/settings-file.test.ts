import { readFileSync } from 'node:fs';
import { settingNames } from '@enterprise-api/shared/runtime';
import { expect, it } from '@jest/globals';
import { settingsFile } from './settings-file.ts';

const example = `# About the file.

# --- Both processes ---

# The ledger. Required.
DATABASE_URL=
# What is logged.
# LOG_LEVEL=info

# --- API ---

# Of two lines,
# this one and the one above.
API_PORT=3000
# A secret.
# INTERNAL_API_SECRET=
`;

it('leaves out secrets with their comments, and comments every other setting out', () => {
  const [, , ...lines] = settingsFile(example, new Set(['DATABASE_URL', 'INTERNAL_API_SECRET'])).split('\n');
  expect(lines).toEqual([
    '',
    '# --- Both processes ---',
    '',
    '# What is logged.',
    '# LOG_LEVEL=info',
    '',
    '# --- API ---',
    '',
    '# Of two lines,',
    '# this one and the one above.',
    '# API_PORT=3000',
    '',
  ]);
});

it('has every setting of .env.example', () => {
  const text = settingsFile(readFileSync(new URL('../../.env.example', import.meta.url), 'utf8'), new Set());
  for (const name of settingNames) expect(text).toMatch(new RegExp(`^# ${name}=`, 'm'));
});
