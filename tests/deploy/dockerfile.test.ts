import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeArguments } from '@enterprise-api/testkit';
import { describe, expect, it } from '@jest/globals';
import { contextPaths, copies, effective, history, readDockerfile } from './dockerfile.ts';
import { importsOf } from './imports.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const stages = readDockerfile(join(project, 'Dockerfile'));
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

describe.each(images)('the image $target', ({ target, command, health }) => {
  const entry = command.at(-1) ?? '';

  it('runs its program as PID 1, so that SIGTERM reaches it', () => {
    expect(JSON.parse(effective(stages, target, 'CMD') ?? '')).toEqual(['node', ...command]);
    expect(existsSync(join(project, entry))).toBe(true);
    expect(effective(stages, target, 'ENTRYPOINT')).toBeUndefined();
    expect(effective(stages, target, 'STOPSIGNAL')).toBe('SIGTERM');
  });

  it('runs as a user that is not root and owns none of its files', () => {
    expect(effective(stages, target, 'USER')).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    const written = history(stages, target).filter(({ keyword }) => keyword === 'COPY' || keyword === 'ADD');
    expect(written.filter(({ text }) => text.includes('--chown'))).toEqual([]);
  });

  it('has a health check, unless it ends by itself', () => {
    const check = effective(stages, target, 'HEALTHCHECK');
    expect(check === undefined).toBe(health === '');
    expect(check ?? '').toContain(health);
  });

  it('has the version of Node on which the tests run', () => {
    const base = stages.find(({ name }) => name === 'base')?.from;
    expect(base).toMatch(new RegExp(`^node:${manifest('').devDependencies.node}-`));
    const environment = history(stages, target).filter(({ keyword }) => keyword === 'ENV');
    expect(environment.filter(({ text }) => text.startsWith('NODE_ENV='))).toMatchObject([
      { text: 'NODE_ENV=production' },
    ]);
  });

  it('has the files that its program imports', () => {
    const copied = contextPaths(stages, target);
    const { files } = importsOf(project, entry);
    const covered = (file: string) => copied.some((path) => file === path || file.startsWith(`${path}/`));
    expect(files.filter((file) => !covered(file))).toEqual([]);
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
      const sources = copies(history(stages, target)).flatMap(({ from }) => (from === undefined ? [] : [from]));
      expect(new Set(sources)).toEqual(new Set(['sources', `${target}-packages`]));
    }
    expect(history(stages, 'sources').findLast(({ keyword }) => keyword === 'RUN')?.text).toContain('-name testing');
  });

  it('is installed from the lock, which npm must not change, for each program by itself', () => {
    const installs = stages.flatMap(({ name, instructions }) =>
      instructions.filter(({ text }) => text.startsWith('npm ')).map(({ text }) => `${name}: ${text.split(' && ')[0]}`),
    );
    const ci = 'npm ci --omit=dev --no-audit --no-fund --workspace=';
    expect(installs.map((line) => line.trim())).toEqual([
      `migrate-packages: ${ci}packages/shared`,
      `webhook-worker-packages: ${ci}services/webhook-worker`,
      `api-packages: ${ci}services/api`,
      `demo-packages: ${ci}packages/shared`,
      expect.stringMatching(/^demo-packages: npm install .*--no-save /),
    ]);
  });

  it('is installed with the manifest of every workspace, without which npm omits its packages', () => {
    const manifests = [
      'package.json',
      'package-lock.json',
      ...globSync('{packages,services}/*/package.json', { cwd: project }),
    ];
    const copied = copies(history(stages, 'manifests')).flatMap(({ sources }) => sources);
    expect(copied.sort()).toEqual(manifests.sort());
  });
});

describe('what the API reads while it runs', () => {
  it('is in its image: the guide of the reference, and the files that its pages load', () => {
    const read = globSync('services/api/src/reference/{guide,assets}/**/*.*', { cwd: project });
    expect(read.length).toBeGreaterThan(10);
    const copied = contextPaths(stages, 'api');
    const excluded = readFileSync(join(project, '.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => /^[^#!]/.test(line) && line !== '*');
    const isThere = (file: string) =>
      copied.some((path) => file.startsWith(`${path}/`)) && !excluded.some((pattern) => matchesGlob(file, pattern));
    expect(read.filter((file) => !isThere(file))).toEqual([]);
  });
});

describe('what the example service runs', () => {
  it('is installed with the packages of production', () => {
    const { packages } = importsOf(project, 'examples/consultations/main.ts');
    const installed = ['packages/shared', 'services/api'].flatMap((folder) =>
      Object.keys(manifest(folder).dependencies),
    );
    expect([...packages.keys()].filter((name) => !installed.includes(name))).toEqual([]);
  });
});

describe('what the demo receiver runs', () => {
  it('is installed in addition to the packages of production', () => {
    const installed = history(stages, 'demo-packages').findLast(({ keyword }) => keyword === 'RUN')?.text ?? '';
    const missing = [...importsOf(project, 'tools/compose/demo-receiver.ts').packages.keys()].filter(
      (name) => manifest('packages/shared').dependencies[name] === undefined && !installed.includes(`'${name}'`),
    );
    expect(missing).toEqual([]);
  });
});

describe('the build context', () => {
  it('lists what it includes: no .env, no data, no history', () => {
    const lines = readFileSync(join(project, '.dockerignore'), 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'));
    expect(lines[0]).toBe('*');
    const letIn = lines.filter((line) => line.startsWith('!')).map((line) => line.slice(1));
    const wanted = stages.flatMap(({ instructions }) => copies(instructions)).filter(({ from }) => from === undefined);
    const roots = new Set(wanted.flatMap(({ sources }) => sources.map((source) => source.split('/')[0] ?? '')));
    expect(letIn.sort()).toEqual([...roots].sort());
    expect(lines).toContain('**/node_modules');
  });
});
