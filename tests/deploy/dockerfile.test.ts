import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { nodeArguments, projectFolder as project } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { inForce, linesOf, stageNames } from './dockerfile.ts';
import { importsOf } from './imports.ts';

const manifest = (folder: string) => JSON.parse(readFileSync(join(project, folder, 'package.json'), 'utf8'));

const images = [
  { target: 'api', command: nodeArguments('api'), health: 'API_PORT:-3000' },
  { target: 'webhook-worker', command: nodeArguments('worker'), health: 'WORKER_PORT:-3002' },
  { target: 'consultations', command: ['examples/consultations/main.ts'], health: 'PORT:-8080' },
  { target: 'demo-receiver', command: ['tools/compose/demo-receiver.ts'], health: 'https://localhost:8443/' },
  { target: 'migrate', command: ['packages/shared/src/ledger/migrate-main.ts'], health: '' },
];
const production = [
  'services/api/src/main.ts',
  'services/webhook-worker/src/main.ts',
  'packages/shared/src/ledger/migrate-main.ts',
];

/** The paths of the build's context that reach an image, directly or through other stages. */
function copied(stage: string): string[] {
  return linesOf(stage).flatMap((line) => {
    const [, from, paths] = /^COPY (?:--from=(\S+) )?(.+) \S+$/.exec(line) ?? [];
    return from === undefined ? (paths?.split(' ') ?? []) : copied(from);
  });
}

const ignored = readFileSync(join(project, '.dockerignore'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'));
const excluded = ignored.filter((line) => !line.startsWith('!') && line !== '*');

/** The files among these that an image has not. */
function missingIn(stage: string, files: readonly string[]): string[] {
  const paths = copied(stage);
  const isThere = (file: string) => paths.some((path) => file === path || file.startsWith(`${path}/`));
  return files.filter((file) => !isThere(file) || excluded.some((pattern) => matchesGlob(file, pattern)));
}

describe.each(images)('the image $target', ({ target, command, health }) => {
  const entry = command.at(-1) ?? '';

  it('runs its program as PID 1, so that SIGTERM reaches it', () => {
    expect(JSON.parse(inForce(target, 'CMD') ?? '')).toEqual(['node', ...command]);
    expect(existsSync(join(project, entry))).toBe(true);
    expect(inForce(target, 'ENTRYPOINT')).toBeUndefined();
    expect(inForce(target, 'STOPSIGNAL')).toBe('SIGTERM');
  });

  it('runs as a user that is not root and owns none of its files', () => {
    expect(inForce(target, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(linesOf(target).filter((line) => line.includes('--chown') || line.startsWith('ADD '))).toEqual([]);
  });

  it('has a health check, unless it ends by itself', () => {
    const check = inForce(target, 'HEALTHCHECK');
    expect(check === undefined).toBe(health === '');
    expect(check ?? '').toContain(health);
  });

  it('has the version of Node on which the tests run, and the licence', () => {
    expect(readFileSync(join(project, 'Dockerfile'), 'utf8')).toContain(
      `ARG NODE_VERSION=${manifest('').devDependencies.node}\n`,
    );
    expect(linesOf(target)[0]).toMatch(/^FROM node:\$\{NODE_VERSION\}-/);
    expect(linesOf(target).filter((line) => line.startsWith('ENV NODE_ENV='))).toEqual(['ENV NODE_ENV=production']);
    expect(copied(target)).toContain('LICENSE');
  });

  it('has the files that its program imports', () => {
    expect(missingIn(target, importsOf(project, entry).files)).toEqual([]);
  });
});

describe('what production runs', () => {
  it.each(production)('%s imports only packages that its own manifest declares', (entry) => {
    const { packages } = importsOf(project, entry);
    const undeclared = [...packages].filter(([name, file]) => {
      const folder = file.split('/').slice(0, 2).join('/');
      return manifest(folder).dependencies[name] === undefined;
    });
    expect(undeclared).toEqual([]);
  });

  it.each(production)('%s loads no file of the test kit or of a folder for tests', (entry) => {
    const forTests = /^packages\/testkit\/|\/testing\/|\.test\.ts$/;
    expect(importsOf(project, entry).files.filter((file) => forTests.test(file))).toEqual([]);
  });

  it('is copied from stages that have removed what is made for tests', () => {
    for (const target of ['api', 'webhook-worker', 'migrate']) {
      const sources = linesOf(target).flatMap((line) => /^COPY --from=(\S+) /.exec(line)?.[1] ?? []);
      const more = target === 'api' ? ['downloads', 'console'] : [];
      expect(new Set(sources)).toEqual(new Set(['sources', `${target}-packages`, ...more]));
    }
    expect(inForce('sources', 'RUN')).toBe('find packages services -type d -name testing -prune -exec rm -r {} +');
  });

  it('is installed from the lock, which npm must not change, for each program by itself', () => {
    const installs = stageNames.flatMap((name) =>
      linesOf(name).flatMap((line) => /^RUN (npm .+?)(?: && .+)?$/.exec(line)?.[1]?.trim() ?? []),
    );
    const ci = 'npm ci --omit=dev --no-audit --no-fund --workspace=';
    expect(installs).toEqual([
      `${ci}packages/shared`,
      `${ci}services/webhook-worker`,
      `${ci}services/api --workspace=packages/cli`,
      `${ci}packages/cli`,
      expect.stringMatching(/^npm install .*--no-save /),
      `${ci}packages/console`,
      `${ci}packages/shared`,
      expect.stringMatching(/^npm install .*--no-save /),
    ]);
  });

  it('is installed with the manifest of every workspace, without which npm omits its packages', () => {
    const manifests = ['package.json', 'package-lock.json'];
    expect(copied('manifests').sort()).toEqual(
      [...manifests, ...globSync('{packages,services}/*/package.json', { cwd: project })].sort(),
    );
  });

  it('has the command line in the image of the API, on the PATH, and the page of the runbooks', () => {
    for (const entry of ['packages/cli/src/main.ts', 'services/api/src/runbooks-main.ts'])
      expect(missingIn('api', importsOf(project, entry).files)).toEqual([]);
    expect(missingIn('api', ['docs/operators/runbooks.md'])).toEqual([]);
    expect(inForce('api', 'RUN')?.split(' && ')).toEqual([
      'ln -s /app/packages/cli/bin/enterprise-api.js /usr/local/bin/enterprise-api',
      'node services/api/src/runbooks-main.ts runbooks.html',
    ]);
    expect(inForce('downloads', 'RUN')).toBe('node tools/pack/main.ts downloads');
  });

  it('has the guide of the reference, and the files that its pages load', () => {
    const read = globSync(['docs/customers/*.md', 'services/api/src/reference/assets/**/*.*'], { cwd: project });
    expect(read.length).toBeGreaterThan(10);
    expect(missingIn('api', read)).toEqual([]);
  });
});

describe('what the demo runs', () => {
  it('is installed: the example service with the packages of production, its receiver with three more', () => {
    const installed = ['packages/shared', 'services/api'].flatMap((folder) =>
      Object.keys(manifest(folder).dependencies),
    );
    const ofService = importsOf(project, 'examples/consultations/main.ts').packages;
    expect([...ofService.keys()].filter((name) => !installed.includes(name))).toEqual([]);
    const more = inForce('demo-packages', 'RUN') ?? '';
    const ofReceiver = importsOf(project, 'tools/compose/demo-receiver.ts').packages;
    const inShared = manifest('packages/shared').dependencies;
    const missing = [...ofReceiver.keys()].filter(
      (name) => inShared[name] === undefined && !more.includes(`'${name}'`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the build context', () => {
  it('lists what it includes: no .env, no data, no history', () => {
    expect(ignored[0]).toBe('*');
    const letIn = ignored.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const roots = new Set(stageNames.flatMap(copied).map((path) => path.split('/')[0]));
    expect(letIn.sort()).toEqual([...roots].sort());
    expect(ignored).toContain('**/node_modules');
  });
});
