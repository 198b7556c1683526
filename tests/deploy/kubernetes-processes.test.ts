import { beforeAll, describe, expect, it } from '@jest/globals';
import { buildOverlay, type Overlay, overlayNames, type Pod } from './overlay.ts';

const services = ['api', 'webhook-worker'];
const overlays = new Map<string, Overlay>();

beforeAll(async () => {
  for (const name of overlayNames) overlays.set(name, await buildOverlay(name));
});

const overlayOf = (name: string) => overlays.get(name) as Overlay;
const podOf = (overlay: Overlay, name: string) => overlay.pods()[name] as Pod;

describe.each(overlayNames)('the number of processes in the overlay %s', (name) => {
  it('is at least two for each service, set in one place, with a budget that lets nodes be drained', () => {
    const overlay = overlayOf(name);
    for (const service of services) {
      const scaled = [
        ...overlay
          .all('HorizontalPodAutoscaler')
          .map(({ spec }) => [spec?.scaleTargetRef.name, spec?.minReplicas, spec?.maxReplicas]),
        ...overlay
          .all('ScaledObject')
          .map(({ spec }) => [spec.scaleTargetRef.name, spec.minReplicaCount, spec.maxReplicaCount]),
      ].filter(([target]) => target === service);
      const { replicas } = overlay.one('Deployment', service).spec ?? {};
      const [least, most] = replicas === undefined ? (scaled[0]?.slice(1) ?? []) : [replicas, replicas];
      expect(scaled).toHaveLength(replicas === undefined ? 1 : 0);
      expect(Number(least)).toBeGreaterThanOrEqual(2);
      expect(Number(most)).toBeGreaterThanOrEqual(Number(least));
      const budget = overlay.one('PodDisruptionBudget', service).spec;
      expect(budget).toMatchObject({ maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' });
      expect(podOf(overlay, service).labels).toMatchObject(budget?.selector?.matchLabels ?? { none: '' });
    }
  });

  it('is spread over zones and machines, and stays complete during an update', () => {
    const overlay = overlayOf(name);
    for (const service of services) {
      const { template, labels } = podOf(overlay, service);
      const spread = template.spec?.topologySpreadConstraints ?? [];
      expect(spread.map(({ topologyKey }) => topologyKey)).toEqual([
        'topology.kubernetes.io/zone',
        'kubernetes.io/hostname',
      ]);
      for (const { labelSelector } of spread) expect(labels).toEqual(labelSelector?.matchLabels);
      expect(overlay.one('Deployment', service).spec?.strategy?.rollingUpdate).toEqual({
        maxSurge: 1,
        maxUnavailable: 0,
      });
    }
  });
});
