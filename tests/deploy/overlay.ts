import { globSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildKustomization } from '@enterprise-api/testkit';
import type { IScaledObject } from '@kubernetes-models/keda/keda.sh/v1alpha1';
import type { IPodMonitor, IPrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1';
import type { IDeployment } from 'kubernetes-models/apps/v1';
import type { IHorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2';
import type { IJob } from 'kubernetes-models/batch/v1';
import type { INetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import type { IPodDisruptionBudget } from 'kubernetes-models/policy/v1';
import type { IConfigMap, IContainer, IPodTemplateSpec, ISecret, IService } from 'kubernetes-models/v1';
import { type KubernetesResource, type Manifest, readResources } from '../../tools/kubernetes/manifests.ts';

const folder = fileURLToPath(new URL('../../deploy/kubernetes/overlays/', import.meta.url));

export const overlayNames = globSync('*/', { cwd: folder })
  .map((name) => name.replace(/\/$/, ''))
  .sort();

interface Kinds {
  ConfigMap: IConfigMap;
  Deployment: IDeployment;
  HorizontalPodAutoscaler: IHorizontalPodAutoscaler;
  Job: IJob;
  NetworkPolicy: INetworkPolicy;
  PodDisruptionBudget: IPodDisruptionBudget;
  PodMonitor: IPodMonitor;
  PrometheusRule: IPrometheusRule;
  ScaledObject: IScaledObject;
  Secret: ISecret;
  Service: IService;
}

/** What `kubectl apply -k` would send to a cluster. */
export interface Overlay {
  readonly resources: readonly KubernetesResource[];
  readonly manifests: readonly Manifest[];
  all<Kind extends keyof Kinds>(kind: Kind): Kinds[Kind][];
  one<Kind extends keyof Kinds>(kind: Kind, name: string): Kinds[Kind];
  /** The pods that Deployments and Jobs start, by the name of their resource. */
  pods(): Record<string, Pod>;
}

export interface Pod {
  readonly template: IPodTemplateSpec;
  readonly labels: Readonly<Record<string, string>>;
  readonly container: IContainer;
}

/** Builds an overlay of deploy/kubernetes with kubectl. */
export async function buildOverlay(name: string): Promise<Overlay> {
  const resources = readResources(await buildKustomization(join(folder, name)));
  const all = <Kind extends keyof Kinds>(kind: Kind) =>
    resources.filter((resource) => resource.kind === kind) as unknown as Kinds[Kind][];
  return {
    resources,
    manifests: resources.map((content) => ({
      name: `${content.kind} ${content.metadata.name}`,
      content,
      isPatch: false,
    })),
    all,
    one: (kind, wanted) => {
      const found = all(kind).find(({ metadata }) => metadata?.name === wanted);
      if (found === undefined) throw new Error(`The overlay ${name} has no ${kind} ${wanted}.`);
      return found;
    },
    pods: () =>
      Object.fromEntries(
        [...all('Deployment'), ...all('Job')].map(({ metadata, spec }) => [
          metadata?.name ?? '',
          podOf(spec?.template),
        ]),
      ),
  };
}

function podOf(template: IPodTemplateSpec | undefined): Pod {
  const [container, ...others] = template?.spec?.containers ?? [];
  if (template === undefined || container === undefined || others.length > 0)
    throw new Error('A pod has one container.');
  return { template, container, labels: template.metadata?.labels ?? {} };
}

/** The environment of a pod's container in this overlay; `secrets` stands for the Secret. */
export function environmentOf(overlay: Overlay, pod: Pod, secrets: Readonly<Record<string, string>>) {
  const maps = (pod.container.envFrom ?? []).map(({ configMapRef }) => configMapRef?.name ?? '');
  const settings = maps.map((name) => overlay.one('ConfigMap', name).data ?? {});
  const single = (pod.container.env ?? []).map(({ name, value, valueFrom }) => {
    const reference = valueFrom?.secretKeyRef;
    const known = reference?.name === 'enterprise-api' ? secrets[reference.key] : undefined;
    return [name, value ?? known] as const;
  });
  return Object.assign({}, ...settings, Object.fromEntries(single)) as Record<string, string | undefined>;
}
