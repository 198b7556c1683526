import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { durationSchema, settingNames } from '@enterprise-api/shared/runtime';
import { testInternalSecret, testKeyRing } from '@enterprise-api/testkit';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig as parseApiConfig } from '../../services/api/src/config.ts';
import { parseConfig as parseWorkerConfig, stopWithinMs } from '../../services/webhook-worker/src/config.ts';
import { typeProblems } from '../../tools/kubernetes/type-problems.ts';
import { inForce } from './dockerfile.ts';
import { buildOverlay, environmentOf, type Overlay, overlayNames, type Pod } from './overlay.ts';

const project = fileURLToPath(new URL('../../', import.meta.url));
const services = ['api', 'webhook-worker'] as const;
const secrets = {
  DATABASE_URL: 'postgres://user:password@postgres/db',
  REDIS_URL: 'redis://redis',
  SECRETS_ENCRYPTION_KEYS: testKeyRing,
  INTERNAL_API_SECRET: testInternalSecret,
};
const overlays = new Map<string, Overlay>();
/** More than the profile "restricted" demands: the root is read-only, too. */
const restrictedPod = {
  runAsNonRoot: true,
  runAsUser: 1000,
  runAsGroup: 1000,
  seccompProfile: { type: 'RuntimeDefault' },
};
const restrictedContainer = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ['ALL'] },
};

beforeAll(async () => {
  for (const name of overlayNames) overlays.set(name, await buildOverlay(name));
});

const overlayOf = (name: string) => overlays.get(name) as Overlay;
const podOf = (overlay: Overlay, name: string) => overlay.pods()[name] as Pod;

it('the overlays are the ones that docs/operators/install-kubernetes.md describes', () => {
  const page = readFileSync(join(project, 'docs/operators/install-kubernetes.md'), 'utf8');
  expect(overlayNames).toEqual(['production', 'production-hpa', 'small']);
  for (const name of overlayNames) expect(page).toContain(`overlays/${name}\``);
});

describe.each(overlayNames)('the overlay %s', (name) => {
  it('consists of resources that Kubernetes and KEDA know, without an unknown field', () => {
    expect(typeProblems(overlayOf(name).manifests)).toEqual([]);
  });

  it('puts everything into one namespace, which enforces the Pod Security profile "restricted"', () => {
    const { resources } = overlayOf(name);
    const [namespace, ...others] = resources.filter(({ kind }) => kind === 'Namespace');
    expect(others).toEqual([]);
    expect(namespace?.metadata).toMatchObject({ labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } });
    const elsewhere = resources.filter(
      ({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== namespace?.metadata.name,
    );
    expect(elsewhere).toEqual([]);
  });

  it('starts the API, the worker and the migration, each within that profile', () => {
    const pods = overlayOf(name).pods();
    expect(Object.keys(pods).sort()).toEqual(['api', 'migrate', 'webhook-worker']);
    for (const { template } of Object.values(pods)) {
      const { securityContext, containers = [], ...rest } = template.spec ?? {};
      expect(securityContext).toEqual(restrictedPod);
      expect(containers.map((container) => container.securityContext)).toEqual([restrictedContainer]);
      expect(containers.flatMap(({ ports = [] }) => ports).filter(({ hostPort }) => hostPort !== undefined)).toEqual(
        [],
      );
      expect(Object.keys(rest).filter((name) => /^host|initContainers|volumes/.test(name))).toEqual([]);
    }
  });

  it('gives no pod a token of the cluster, nor variables for its services, which would look like settings', () => {
    for (const { template } of Object.values(overlayOf(name).pods()))
      expect(template.spec).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  it('runs images that are targets of the Dockerfile, of this version, as their user, with a limit of memory', () => {
    const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'));
    for (const [target, { container, template }] of Object.entries(overlayOf(name).pods())) {
      expect(container.image).toBe(`enterprise-api/${target}:${version}`);
      expect([container.command, container.args]).toEqual([undefined, undefined]);
      const { runAsUser, runAsGroup } = template.spec?.securityContext ?? {};
      expect(inForce(target, 'USER')).toBe(`${runAsUser}:${runAsGroup}`);
      const { requests, limits } = container.resources ?? {};
      expect({ requests, limits }).toEqual({
        requests: { cpu: expect.anything(), memory: expect.anything() },
        limits: { memory: expect.anything() },
      });
    }
  });
});

describe.each(overlayNames)('the settings of the overlay %s', (name) => {
  it('let both services start without a warning, with the secrets that each of them gets', () => {
    const overlay = overlayOf(name);
    const api = parseApiConfig(environmentOf(overlay, podOf(overlay, 'api'), secrets));
    expect(api).toMatchObject({ ok: true, warnings: [] });
    expect(parseWorkerConfig(environmentOf(overlay, podOf(overlay, 'webhook-worker'), secrets))).toMatchObject({
      ok: true,
      warnings: [],
    });
  });

  it('have names that the product knows', () => {
    const overlay = overlayOf(name);
    const used = Object.values(overlay.pods()).flatMap((pod) => Object.keys(environmentOf(overlay, pod, secrets)));
    expect(used.filter((setting) => !settingNames.some((known) => known === setting))).toEqual([]);
  });

  it('contain no secret: those are references, and the worker and the migration get none of the API', () => {
    const overlay = overlayOf(name);
    expect(overlay.all('Secret')).toEqual([]);
    const references = (pod: string) => podOf(overlay, pod).container.env ?? [];
    for (const pod of ['api', 'webhook-worker', 'migrate'])
      for (const { name: setting, valueFrom } of references(pod))
        expect(valueFrom?.secretKeyRef).toMatchObject({ key: setting });
    expect(references('migrate').map((each) => each.name)).toEqual(['DATABASE_URL', 'DATABASE_DIRECT_URL']);
    expect(
      references('webhook-worker')
        .map((each) => each.name)
        .filter((setting) => /INTERNAL|IDENTITY/.test(setting)),
    ).toEqual([]);
    const values = overlay.all('ConfigMap').flatMap(({ data = {} }) => Object.keys(data));
    expect(values.filter((setting) => secretNames().includes(setting))).toEqual([]);
  });

  it('refer to every secret that a service reads', () => {
    const overlay = overlayOf(name);
    for (const service of services) {
      const references = (podOf(overlay, service).container.env ?? []).map((each) => each.name);
      expect(references.sort()).toEqual(secretNames(service).sort());
    }
  });

  it('open ports that the image exposes, and listen on every address of the pod', () => {
    const overlay = overlayOf(name);
    const ports = (service: string) =>
      (podOf(overlay, service).container.ports ?? []).map(({ containerPort }) => containerPort);
    const api = parseApiConfig(environmentOf(overlay, podOf(overlay, 'api'), secrets));
    const worker = parseWorkerConfig(environmentOf(overlay, podOf(overlay, 'webhook-worker'), secrets));
    if (!api.ok || !worker.ok) throw new Error('The settings are not usable.');
    const { public: open, internal } = api.config;
    const { WORKER_HOST, WORKER_PORT } = worker.settings;
    expect([open.host, internal.host, WORKER_HOST]).toEqual(['0.0.0.0', '0.0.0.0', '0.0.0.0']);
    expect(ports('api')).toEqual([open.port, internal.port]);
    expect(ports('webhook-worker')).toEqual([WORKER_PORT]);
    for (const service of services) expect(ports(service).join(' ')).toBe(inForce(service, 'EXPOSE'));
  });

  it('leave a service more time to stop than it may take, with the pause before it', () => {
    const overlay = overlayOf(name);
    const worker = parseWorkerConfig(environmentOf(overlay, podOf(overlay, 'webhook-worker'), secrets));
    if (!worker.ok) throw new Error(worker.problems.join());
    const graceMs = (service: string) =>
      (podOf(overlay, service).template.spec?.terminationGracePeriodSeconds ?? 0) * 1_000;
    expect(graceMs('webhook-worker')).toBeGreaterThan(stopWithinMs(worker.settings));
    const main = readFileSync(join(project, 'services/api/src/main.ts'), 'utf8');
    const apiStopMs = Number(/stopWithinMs = ([\d_]+);/.exec(main)?.[1]?.replaceAll('_', ''));
    const [program, seconds] = podOf(overlay, 'api').container.lifecycle?.preStop?.exec?.command ?? [];
    expect(program).toBe('sleep');
    expect(graceMs('api')).toBeGreaterThan(apiStopMs + durationSchema.parse(`${seconds}s`));
  });
});

/** The settings that a service, or any, also takes from the file that `NAME_FILE` names. */
function secretNames(service?: (typeof services)[number]): string[] {
  const parsers = { api: parseApiConfig, 'webhook-worker': parseWorkerConfig };
  const used = service === undefined ? services : [service];
  const takesFile = (name: string) =>
    used.some((each) => {
      const parsed = parsers[each]({ [`${name}_FILE`]: '/nowhere' });
      return !parsed.ok && parsed.problems.some((problem) => problem.startsWith(`${name}_FILE:`));
    });
  return settingNames.filter(takesFile);
}
