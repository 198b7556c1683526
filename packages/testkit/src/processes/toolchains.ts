import { spawnSync } from 'node:child_process';
import { findProgram } from './find-program.ts';

/** Programs of other languages that some tests use. Nothing of the product needs them. */
const toolchains = {
  curl: { name: 'curl', find: () => working(['curl'], ['--version']) },
  python: { name: 'Python', find: () => python('sqlite3') },
  fastapi: { name: 'Python with FastAPI and uvicorn', find: () => python('fastapi, uvicorn') },
  pythonClients: {
    name: 'Python with requests, httpx and urllib3',
    find: () => python('requests, httpx, urllib3'),
  },
  go: { name: 'Go', find: () => working(['go'], ['version']) },
  java: { name: 'Java compiler', find: () => working(['javac'], ['-version']) && working(['java'], ['-version']) },
} as const;

export type ToolchainName = keyof typeof toolchains;

export function isToolchainName(name: string): name is ToolchainName {
  return Object.hasOwn(toolchains, name);
}

/** How a person calls it. */
export function describeToolchain(name: ToolchainName): string {
  return toolchains[name].name;
}

/** The path of a toolchain's program, when this machine has one that works. */
export function findToolchain(name: ToolchainName): string | undefined {
  return toolchains[name].find();
}

/**
 * The path of a toolchain's program, for a test file that needs it. The test runner looks for calls of this function,
 * and leaves out the files whose toolchain is missing.
 */
export function requireToolchain(name: ToolchainName): string {
  const program = findToolchain(name);
  if (program === undefined) throw new Error(`There is no ${describeToolchain(name)} on this machine.`);
  return program;
}

/** The Python at TEST_PYTHON, else on the PATH, when it has these modules. */
function python(modules: string): string | undefined {
  const given = process.env.TEST_PYTHON;
  const hasModules = ['-c', `import sys, ${modules}; sys.exit(sys.version_info < (3, 10))`];
  return given ? ifWorks(given, hasModules) : working(['python3', 'python'], hasModules);
}

function working(names: readonly string[], args: readonly string[]): string | undefined {
  const program = findProgram(names, process.env.PATH);
  return program && ifWorks(program, args);
}

/** Some systems have programs that only tell how to install the real one. */
function ifWorks(program: string, args: readonly string[]): string | undefined {
  return spawnSync(program, args, { stdio: 'ignore', timeout: 60_000 }).status === 0 ? program : undefined;
}
