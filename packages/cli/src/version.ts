import { readFileSync } from 'node:fs';

const manifest = new URL('../package.json', import.meta.url);

/** The version of this package, for `--version`. */
export const version: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;

/** What this program calls itself in requests. */
export const userAgent = `enterprise-api-cli/${version}`;
