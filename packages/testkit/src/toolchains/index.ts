import { spawnSync } from 'node:child_process';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import { describe, expect } from '@jest/globals';
import { findProgram } from '../processes/find-program.ts';

/** What some tests use beyond the product: programs of other languages and systemd's. */
const toolchains = {
  curl: { name: 'curl', find: () => working('curl', ['--fail-with-body', '--version']) },
  python: { name: 'Python', find: () => python('json') },
  fastapi: { name: 'Python with FastAPI and uvicorn', find: () => python('fastapi, uvicorn, sqlite3') },
  pythonClients: {
    name: 'Python with requests, httpx and urllib3 2',
    find: () => python('requests, httpx, urllib3', 'urllib3.__version__ >= "2"'),
  },
  pythonFrameworks: {
    name: 'Python with FastAPI, Flask and Django',
    find: () => python('fastapi, uvicorn, flask, django'),
  },
  openapiPythonClient: {
    name: 'Python with openapi-python-client',
    find: () => python('openapi_python_client, httpx, attrs'),
  },
  go: { name: 'Go 1.24', find: () => working('go', ['version'], (text) => numberIn(text, /go1\.(\d+)/) >= 24) },
  node20: { name: 'Node.js 20', find: oldNode },
  java: { name: 'JDK 11', find: () => (isJdk() ? working('java', ['--version']) : undefined) },
  maven: { name: 'JDK 17 with Maven', find: () => (isJdk(17) ? working('mvn', ['--version']) : undefined) },
  rust: { name: 'Rust 1.85', find: () => working('cargo', ['--version'], (text) => numberIn(text, /1\.(\d+)/) >= 85) },
  npm: { name: 'npm', find: () => working('npm', ['--version']) },
  systemd: { name: 'systemd', find: () => working('systemd-analyze', ['--version']) },
  downloads: {
    name: 'downloads (TEST_DOWNLOADS=1)',
    find: () => (process.env.TEST_DOWNLOADS === '1' ? 'permitted' : undefined),
  },
} as const;

type ToolchainName = keyof typeof toolchains;

/**
 * Defines tests where this machine has these toolchains. Otherwise a line of the run names them, and no test counts. That
 * is no failure: the product needs none of them. The file needs a test that runs everywhere.
 *
 * @param define gets the paths of their programs, in the same order
 */
export function describeWith<const Names extends readonly ToolchainName[]>(
  names: Names,
  define: (...programs: { [Index in keyof Names]: string }) => void,
): void {
  const programs = names.map((name) => toolchains[name].find());
  const needs = names.map((name) => toolchains[name].name).join(' and ');
  if (programs.includes(undefined)) {
    const file = relative(process.cwd(), expect.getState().testPath ?? '');
    process.stdout.write(`Not run in ${file}: the tests with ${needs}\n`);
    return;
  }
  describe(`with ${needs}`, () => {
    define(...(programs as { [Index in keyof Names]: string }));
  });
}

/** The Python at TEST_PYTHON, else on the PATH, when it has these modules, and they fulfil a condition. */
function python(modules: string, condition = 'True'): string | undefined {
  const check = `import sys, ${modules}; sys.exit(not (sys.version_info >= (3, 10) and ${condition}))`;
  return working(process.env.TEST_PYTHON || 'python3', ['-c', check]);
}

/** Not the first on the PATH: `npm test` puts this project's own Node.js before it. */
function oldNode(): string | undefined {
  const programs = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'node'));
  return programs.find((program) => working(program, ['--version'], (text) => text.startsWith('v20.')));
}

function isJdk(version = 11): boolean {
  return working('javac', ['--version'], (text) => numberIn(text, /javac (\d+)/) >= version) !== undefined;
}

/** The path of a program that runs with these arguments. Some systems have one that only tells how to install it. */
function working(name: string, args: readonly string[], isRight: (output: string) => boolean = () => true) {
  const program = isAbsolute(name) ? name : findProgram([name], process.env.PATH);
  const answer = program && spawnSync(program, args, { encoding: 'utf8', timeout: 60_000 });
  return answer && answer.status === 0 && isRight(answer.stdout) ? program : undefined;
}

function numberIn(output: string, pattern: RegExp): number {
  return Number(pattern.exec(output)?.[1] ?? 0);
}
