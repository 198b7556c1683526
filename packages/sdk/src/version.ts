import { readFileSync } from 'node:fs';

/** The version in this package's manifest. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
