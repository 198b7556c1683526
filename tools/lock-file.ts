import { z } from 'zod';

const dependencies = z.record(z.string(), z.string()).default({});

/** As much of package-lock.json (version 3) as the check reads. Keys are folders, such as `node_modules/a/node_modules/b`. */
export const lockFileSchema = z.object({
  packages: z.record(
    z.string(),
    z.object({
      version: z.string().optional(),
      resolved: z.string().optional(),
      integrity: z.string().optional(),
      link: z.boolean().optional(),
      optionalDependencies: dependencies,
    }),
  ),
});

export type LockFile = z.output<typeof lockFileSchema>;

/**
 * What would make `npm ci` fail, or install other files, on another platform or from another registry: an optional
 * dependency without an entry (npm leaves it out without a word when the registry does not offer it), an entry without
 * a checksum, an address outside the public registry.
 */
export function lockProblems({ packages }: LockFile): string[] {
  return Object.entries(packages).flatMap(([folder, entry]) => [
    ...Object.entries(entry.optionalDependencies).flatMap(([name, range]) => {
      const problem = optionalProblem(packages, folder, name, range);
      return problem === undefined ? [] : [problem];
    }),
    ...(isDownloaded(folder, entry) && entry.integrity === undefined ? [`${folder}: no integrity`] : []),
    ...(isForeign(entry.resolved) ? [`${folder}: resolved from ${entry.resolved}`] : []),
  ]);
}

function optionalProblem(
  packages: LockFile['packages'],
  folder: string,
  name: string,
  range: string,
): string | undefined {
  const found = foldersAbove(folder).map((above) => packages[`${above}node_modules/${name}`]);
  const version = found.find((entry) => entry !== undefined)?.version;
  const subject = `${folder || 'the root'}: its optional dependency ${name}@${range}`;
  if (version === undefined) return `${subject} is missing`;
  return isExact(range) && version !== range ? `${subject} is locked at ${version}` : undefined;
}

/** Where Node looks for what a package imports: below its own folder first, then below each folder around it. */
function foldersAbove(folder: string): string[] {
  const parts = folder === '' ? [] : folder.split('/');
  return parts.map((_, index) => `${parts.slice(0, parts.length - index).join('/')}/`).concat('');
}

function isExact(range: string): boolean {
  return /^\d+\.\d+\.\d+(-[\w.]+)?$/.test(range);
}

function isDownloaded(folder: string, { link }: LockFile['packages'][string]): boolean {
  return folder.includes('node_modules/') && link !== true;
}

function isForeign(resolved: string | undefined): boolean {
  return resolved?.includes('://') === true && !resolved.startsWith('https://registry.npmjs.org/');
}
