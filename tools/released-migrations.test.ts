import { readFileSync } from 'node:fs';
import { expect, it } from '@jest/globals';
import { hashMigrations } from './released-migrations.ts';

it('a released migration still runs the statements of its release: write a new migration instead', async () => {
  const released = JSON.parse(readFileSync(new URL('released-migrations.json', import.meta.url), 'utf8'));
  expect(await hashMigrations()).toMatchObject(released);
});
