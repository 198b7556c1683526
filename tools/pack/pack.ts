import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const project = fileURLToPath(new URL('../../', import.meta.url));

/** The packages that programs outside this workspace install. */
export const packages = ['cli', 'sdk', 'shared'] as const;
export type PackageName = (typeof packages)[number];

interface Manifest {
  name: string;
  version: string;
  description?: string;
  license: string;
  dependencies: Record<string, string>;
  devDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional: boolean }>;
  exports?: Record<string, string>;
  bin?: Record<string, string>;
}

const readManifest = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/**
 * Packs a package as programs outside this workspace install it. Inside, the sources run as they are; under node_modules
 * Node refuses TypeScript, so what is packed is compiled, with its types.
 *
 * @returns the path of the tarball
 */
export function pack(name: PackageName, folder: string): string {
  const source = join(project, 'packages', name);
  // A folder of its own: nothing of an earlier version stays in the package, and two may be packed at once.
  const dist = mkdtempSync(join(tmpdir(), 'enterprise-api-pack-'));
  try {
    compile(source, dist);
    if (name === 'cli') bundleSdk(dist);
    const manifest = manifestOfPackage(name, readManifest(source));
    writeFileSync(join(dist, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    copyFileSync(join(project, 'LICENSE'), join(dist, 'LICENSE'));
    for (const file of ['README.md', 'bin']) {
      if (existsSync(join(source, file))) cpSync(join(source, file), join(dist, file), { recursive: true });
    }
    mkdirSync(folder, { recursive: true });
    const packing = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder];
    const output = execFileSync('npm', packing, { cwd: dist, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
    return join(folder, output.trim().split('\n').at(-1) ?? '');
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

/** Packs what the API serves at /docs/downloads: `sdk-<version>.tgz` and `cli-<version>.tgz`. */
export function packDownloads(folder: string): void {
  const draft = `${folder}.new`;
  rmSync(draft, { recursive: true, force: true });
  for (const name of ['sdk', 'cli'] as const) {
    const { version } = readManifest(join(project, 'packages', name));
    renameSync(pack(name, draft), join(draft, `${name}-${version}.tgz`));
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(draft, folder);
}

/** Nobody owns our names on a registry, so the command line carries the SDK and imports it by its path. */
function bundleSdk(dist: string): void {
  const source = join(project, 'packages/sdk');
  const sdk = join(dist, 'sdk');
  compile(source, sdk);
  const manifest = readManifest(source);
  writeFileSync(join(sdk, 'package.json'), JSON.stringify({ version: manifest.version, type: 'module' }));
  for (const file of globSync(join(dist, 'lib/**/*.js'))) {
    const text = readFileSync(file, 'utf8');
    const entry = relative(dirname(file), join(sdk, 'lib/index.js'));
    writeFileSync(file, text.replaceAll("'@enterprise-api/sdk'", `'${entry}'`));
  }
}

function compile(source: string, dist: string): void {
  const places = ['--outDir', join(dist, 'lib'), '--tsBuildInfoFile', join(dist, 'lib.tsbuildinfo')];
  const compiler = [join(project, 'node_modules/typescript/bin/tsc'), '-p', 'tsconfig.build.json', ...places];
  // Standard output is for the path alone: the compiler's messages go to standard error.
  execFileSync(process.execPath, compiler, { cwd: source, stdio: ['ignore', 2, 2] });
}

/** The same entries as inside the workspace. */
function manifestOfPackage(packageName: PackageName, manifest: Manifest): object {
  const { name, version, description, license, dependencies, exports, bin } = manifest;
  const common = { name, version, description, license, type: 'module', files: ['lib', 'bin', 'sdk'], dependencies };
  return {
    ...common,
    ...(exports && {
      exports: Object.fromEntries(Object.entries(exports).map(([entry, file]) => [entry, compiled(file)])),
    }),
    ...(bin && { bin }),
    ...particulars(packageName, manifest),
  };
}

function particulars(name: PackageName, { dependencies, peerDependencies, peerDependenciesMeta }: Manifest): object {
  // The client's dependencies need it: eventsource-parser 22.12, got 22. The verifier alone runs on Node.js 20 as well.
  const client = { engines: { node: '>=22.12' } };
  if (name === 'sdk') return { ...client, sideEffects: false };
  if (name === 'cli') {
    const { '@enterprise-api/sdk': _bundled, ...own } = dependencies;
    const ofSdk = readManifest(join(project, 'packages/sdk')).dependencies;
    return { ...client, dependencies: { ...ofSdk, ...own } };
  }
  const { kysely, ...others } = dependencies;
  return {
    // The first with crypto.randomUUIDv7.
    engines: { node: '>=24.16' },
    // Our declarations use its types.
    dependencies: { ...others, '@types/pg': readManifest(project).devDependencies?.['@types/pg'] },
    // The caller's own copies: the producer takes the caller's database handle, and two copies' types do not fit; and it
    // asks the caller's OpenTelemetry, where there is one, which trace is active.
    peerDependencies: { kysely: `^${kysely}`, ...peerDependencies },
    peerDependenciesMeta,
  };
}

function compiled(file: string): { types: string; default: string } {
  const path = file.replace(/^\.\/src\//, './lib/').replace(/\.ts$/, '');
  return { types: `${path}.d.ts`, default: `${path}.js` };
}
