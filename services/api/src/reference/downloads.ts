import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileOf, type StaticFile } from '../http/routing/static-file.ts';

/** A package that customers install from this API. */
export interface Download {
  readonly name: 'sdk' | 'cli';
  readonly fileName: string;
  /** `/docs/downloads/sdk-1.0.0.tgz` */
  readonly path: string;
  /** In the form that package locks use: `sha512-…`. */
  readonly integrity: string;
  readonly file: StaticFile;
}

/** The image's build and `make start` put the tarballs here. */
export const downloadsFolder = fileURLToPath(new URL('../../dist/downloads', import.meta.url));

/** Reads the tarballs into memory. Returns an empty list if they were not built. */
export function readDownloads(folder: string): Download[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((fileName) => {
    const [, name] = /^(sdk|cli)-\d[\w.-]*\.tgz$/.exec(fileName) ?? [];
    if (name !== 'sdk' && name !== 'cli') return [];
    const body = readFileSync(join(folder, fileName));
    return {
      name,
      fileName,
      path: `/docs/downloads/${fileName}`,
      integrity: `sha512-${hash('sha512', body, 'base64')}`,
      file: fileOf('application/gzip', body),
    };
  });
}
