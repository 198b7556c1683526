import { readFileSync } from 'node:fs';

/** The version of the SDK, from the manifest of the package this file is in. */
export const version: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
