import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';

/** A program of docs/calling.md. */
export interface Program {
  /** The heading that it stands under. */
  title: string;
  language: string;
  source: string;
}

/** The programs of the page, in its order. */
export function readPrograms(): Program[] {
  const page = readFileSync(join(projectFolder, 'docs/calling.md'), 'utf8');
  const parts = [...page.matchAll(/^##+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)];
  let title = '';
  return parts.flatMap(([, heading, language, source]) => {
    if (heading !== undefined) title = heading;
    return language !== undefined && source !== undefined ? [{ title, language, source }] : [];
  });
}

/** @throws when the page has none, or several, under this heading */
export function readProgram(title: string): Program {
  const [program, ...others] = readPrograms().filter((each) => each.title === title);
  if (program === undefined || others.length > 0)
    throw new Error(`docs/calling.md has not one program under ${title}.`);
  return program;
}

/** The programs that the suites of this folder run, the last four with packages that only TEST_DOWNLOADS=1 fetches. */
export const runBySuites = [
  ['curl'],
  ['The SDK', 'got', 'fetch', 'undici'],
  ['The standard library'],
  ['requests', 'urllib3', 'httpx'],
  ['net/http'],
  ['HttpClient'],
  ['axios with axios-retry'],
  ['go-retryablehttp', 'resty'],
  ['OkHttp'],
  ['Rust'],
].flat();
