import { readFileSync } from 'node:fs';

const page = readFileSync(new URL('../../packages/sdk/README.md', import.meta.url), 'utf8');

/** The examples of the SDK's README, by the file name in the first line of each. */
export const readmeExamples: Readonly<Record<string, string>> = Object.fromEntries(
  [...page.matchAll(/^```ts\n(\/\/ ([\w-]+\.ts)\n[\s\S]*?)^```$/gm)].map(([, text = '', name = '']) => [name, text]),
);
