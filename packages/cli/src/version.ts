import { readFileSync } from 'node:fs';

const manifest = new URL('../package.json', import.meta.url);

/** The version of this package, for `--version`. */
export const version: string = (JSON.parse(readFileSync(manifest, 'utf8')) as { version: string }).version;

/** The `User-Agent` of this program. */
export const userAgent = `enterprise-api-cli/${version}`;
