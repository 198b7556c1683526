import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';

/** By heading: the programs of docs/customers/call-the-api.md. */
export function readPagePrograms(): Map<string, string> {
  const page = readFileSync(join(projectFolder, 'docs/customers/call-the-api.md'), 'utf8');
  const parts = [...page.matchAll(/^##+ (.+)$|^```(\w+)\n([\s\S]*?)^```$/gm)];
  let title = '';
  return new Map(
    parts.flatMap(([, heading, language, source = '']) => {
      if (heading !== undefined) title = heading;
      // Other shell commands install something.
      const isProgram = language !== undefined && (language !== 'sh' || title === 'curl');
      return isProgram ? [[title, source] as const] : [];
    }),
  );
}

/** @param name a heading of the page, or a file of examples/clients */
export function readProgram(name: string): string {
  return readPagePrograms().get(name) ?? readFileSync(join(projectFolder, 'examples/clients', name), 'utf8');
}

/** The programs that the suites of this folder run, the last five with packages that only TEST_DOWNLOADS=1 fetches. */
export const runBySuites = {
  page: ['curl', 'The SDK', 'Python', 'Go'],
  files: [
    ['fetch.mjs', 'got.mjs', 'undici.mjs'],
    ['with_requests.py', 'with_urllib3.py', 'with_httpx.py'],
    ['HttpClient.java'],
    ['axios.mjs', 'go-retryablehttp.go', 'resty.go', 'OkHttp.java', 'reqwest.rs'],
  ].flat(),
};
