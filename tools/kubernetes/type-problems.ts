import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Manifest } from './manifests.ts';

const modules = fileURLToPath(new URL('../../node_modules/', import.meta.url));
const options = '--ignoreConfig --noEmit --strict --skipLibCheck --target es2024 --module nodenext --pretty false';
const partOf = `
type Part<T> = T extends readonly (infer E)[] ? Part<E>[] : T extends object ? { [K in keyof T]?: Part<T[K]> } : T;
`;

/** Where the types of resources are that Kubernetes itself does not know, by their API group. */
const packages: Readonly<Record<string, string>> = {
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

/**
 * What is wrong with manifests by the types of kubernetes-models: unknown fields, wrong values, missing fields. The
 * compiler judges, because the validators of that package let unknown fields pass, and a misspelt field is the usual
 * mistake.
 */
export function typeProblems(manifests: readonly Manifest[]): string[] {
  mkdirSync(join(modules, '.cache'), { recursive: true });
  // Below node_modules, so that the compiler finds the types.
  const folder = mkdtempSync(join(modules, '.cache/manifests-'));
  try {
    const files = manifests.map((manifest, at) => {
      const file = join(folder, `${at}.ts`);
      writeFileSync(file, asProgram(manifest));
      return file;
    });
    const compiler = [join(modules, 'typescript/bin/tsc'), ...options.split(' '), ...files];
    const { stdout, stderr, status } = spawnSync(process.execPath, compiler, { encoding: 'utf8', cwd: modules });
    const problems = stdout.split('\n').flatMap((line) => readProblem(line, manifests));
    if (status !== 0 && problems.length === 0) throw new Error(`The compiler failed.\n${stdout}${stderr}`);
    return problems;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** A program that compiles exactly when the manifest is what Kubernetes expects. */
function asProgram({ content, isPatch }: Manifest): string {
  const { apiVersion, kind } = content;
  const source = packages[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models';
  const type = isPatch ? 'Part<Resource>' : 'Resource';
  return `import type { I${kind} as Resource } from '${source}/${apiVersion}';
${partOf}
export const manifest: ${type} = ${JSON.stringify(content, null, 1)};
`;
}

function readProblem(line: string, manifests: readonly Manifest[]): string[] {
  const [, file, problem] = /^(.+?)\(\d+,\d+\): error TS\d+: (.*)$/.exec(line) ?? [];
  if (problem === undefined) return line.startsWith('error') ? [line] : [];
  const manifest = manifests[Number(basename(file ?? '', '.ts'))];
  return [`${manifest?.name}: ${problem.slice(0, 300)}`];
}
