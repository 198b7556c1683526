import { openStage, type ServiceProcess, type Stage, sendRequest } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { IHTTPGetAction, IProbe } from 'kubernetes-models/v1';
import { buildOverlay, type Overlay, overlayNames, type Pod } from './overlay.ts';

const overlays = new Map<string, Overlay>();
let stage: Stage;
let services: Record<string, ServiceProcess>;

beforeAll(async () => {
  for (const name of overlayNames) overlays.set(name, await buildOverlay(name));
  stage = await openStage({ redisUrl: undefined });
  services = { api: await stage.startApi(), 'webhook-worker': await stage.startWorker() };
});

afterAll(async () => stage[Symbol.asyncDispose]());

/** The URL of a running service at the port that a manifest names. */
function urlAt(service: string, pod: Pod, port: string | number): string {
  const { url, internalUrl } = services[service] as ServiceProcess;
  const named = pod.container.ports?.find((each) => each.name === port || String(each.containerPort) === String(port));
  return named?.name === 'internal' ? internalUrl : url;
}

async function get(service: string, pod: Pod, { path, port }: IHTTPGetAction) {
  return sendRequest({ method: 'GET', url: urlAt(service, pod, port) + path });
}

describe.each(overlayNames)('in the overlay %s', (name) => {
  const overlay = () => overlays.get(name) as Overlay;
  const podOf = (service: string) => overlay().pods()[service] as Pod;

  it.each([
    ['api', 'public'],
    ['webhook-worker', 'probes'],
  ])('the probes of %s ask paths that it answers with 200', async (service, port) => {
    const { startupProbe, readinessProbe, livenessProbe } = podOf(service).container;
    const asked = (probe: IProbe | undefined) => probe?.httpGet as IHTTPGetAction;
    expect(asked(startupProbe)).toEqual({ path: '/healthz', port });
    expect(asked(livenessProbe)).toEqual({ path: '/healthz', port });
    expect(asked(readinessProbe)).toEqual({ path: '/readyz', port });
    for (const probe of [startupProbe, readinessProbe, livenessProbe])
      expect(await get(service, podOf(service), asked(probe))).toMatchObject({ status: 200 });
  });

  it.each(['api', 'webhook-worker'])('the metrics of %s are where Prometheus is sent', async (service) => {
    const notes = podOf(service).template.metadata?.annotations ?? {};
    expect(notes['prometheus.io/scrape']).toBe('true');
    const at = { path: notes['prometheus.io/path'] ?? '', port: notes['prometheus.io/port'] ?? '' };
    const ports = podOf(service).container.ports ?? [];
    expect(ports.map(({ containerPort }) => String(containerPort))).toContain(at.port);
    expect((await get(service, podOf(service), at)).text).toContain('ledger_outbox_oldest_seconds');
  });

  it('the autoscaler asks for metrics that the worker has', async () => {
    const triggers = overlay()
      .all('ScaledObject')
      .flatMap(({ spec }) => spec.triggers);
    expect(triggers).toHaveLength(name === 'production' ? 2 : 0);
    const { text } = await sendRequest({ method: 'GET', url: `${services['webhook-worker']?.url}/metrics` });
    for (const { metadata } of triggers) {
      const [, metric] = /^max\((\w+)\)$/.exec(metadata.query ?? '') ?? [];
      expect(text).toMatch(new RegExp(`^${metric}[{ ]`, 'm'));
    }
  });

  it('the Services lead to a port that their pods have', () => {
    for (const { spec } of overlay().all('Service')) {
      expect(podOf('api').labels).toEqual(spec?.selector);
      const names = podOf('api').container.ports?.map((port) => port.name);
      for (const { targetPort } of spec?.ports ?? []) expect(names).toContain(targetPort);
    }
    expect(overlay().one('Service', 'api').spec?.ports).toMatchObject([{ targetPort: 'public' }]);
    expect(overlay().one('Service', 'api-internal').spec?.ports).toMatchObject([{ targetPort: 'internal' }]);
  });
});
