import type { IContainer, IPodSpec } from 'kubernetes-models/v1';

/** Kinds of volumes that the profile "restricted" permits. */
const permittedVolumes = [
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'persistentVolumeClaim',
  'projected',
  'secret',
];

/**
 * Where a pod breaks the Pod Security profile "restricted", which has the rules of "baseline" too
 * (https://kubernetes.io/docs/concepts/security/pod-security-standards/), and a rule of ours: its root is read-only.
 * Stricter than the profile where it lets the container or the pod say something: here the pod says it for all.
 */
export function podSecurityProblems(pod: IPodSpec): string[] {
  const { securityContext: context = {} } = pod;
  const broken: Record<string, boolean> = {
    'uses a namespace of its host': [pod.hostNetwork, pod.hostPID, pod.hostIPC].includes(true),
    'does not demand a user that is not root': context.runAsNonRoot !== true || !((context.runAsUser ?? 0) > 0),
    'has no seccomp profile': !['RuntimeDefault', 'Localhost'].includes(context.seccompProfile?.type ?? ''),
    'sets kernel parameters': (context.sysctls ?? []).length > 0,
    'has a volume of a forbidden kind': (pod.volumes ?? []).some(({ name: _name, ...kinds }) =>
      Object.keys(kinds).some((kind) => !permittedVolumes.includes(kind)),
    ),
  };
  const containers = [...(pod.initContainers ?? []), ...pod.containers];
  return [...namesOf(broken), ...containers.flatMap(containerProblems)];
}

function containerProblems(container: IContainer): string[] {
  const { securityContext: context = {} } = container;
  const added = context.capabilities?.add ?? [];
  return namesOf({
    'may gain privileges': context.allowPrivilegeEscalation !== false || context.privileged === true,
    'keeps capabilities': !(context.capabilities?.drop ?? []).includes('ALL'),
    'adds capabilities': added.some((name) => name !== 'NET_BIND_SERVICE'),
    'runs as root': context.runAsNonRoot === false || context.runAsUser === 0,
    'has no seccomp profile of its own': context.seccompProfile?.type === 'Unconfined',
    'sees all of /proc': context.procMount !== undefined && context.procMount !== 'Default',
    'has a port of the host': (container.ports ?? []).some(({ hostPort }) => (hostPort ?? 0) > 0),
    'may write to its root': context.readOnlyRootFilesystem !== true,
  }).map((problem) => `${container.name} ${problem}`);
}

function namesOf(broken: Readonly<Record<string, boolean>>): string[] {
  return Object.keys(broken).filter((problem) => broken[problem] === true);
}
