import { describe, expect, it } from '@jest/globals';
import type { IPodSpec } from 'kubernetes-models/v1';
import { podSecurityProblems } from './pod-security.ts';

const container = {
  name: 'x',
  image: 'y',
  securityContext: { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
};
const pod: IPodSpec = {
  securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
  containers: [container],
};
const withContext = (context: object): IPodSpec => ({
  ...pod,
  containers: [{ ...container, securityContext: { ...container.securityContext, ...context } }],
});

describe('the Pod Security profile "restricted"', () => {
  it('is kept by a pod without privileges', () => {
    expect(podSecurityProblems(pod)).toEqual([]);
  });

  it.each<[string, IPodSpec]>([
    ['uses a namespace of its host', { ...pod, hostNetwork: true }],
    [
      'does not demand a user that is not root',
      { ...pod, securityContext: { ...pod.securityContext, runAsNonRoot: false } },
    ],
    ['does not demand a user that is not root', { ...pod, securityContext: { ...pod.securityContext, runAsUser: 0 } }],
    [
      'has no seccomp profile',
      { ...pod, securityContext: { ...pod.securityContext, seccompProfile: { type: 'Unconfined' } } },
    ],
    [
      'sets kernel parameters',
      { ...pod, securityContext: { ...pod.securityContext, sysctls: [{ name: 'a', value: '1' }] } },
    ],
    ['has a volume of a forbidden kind', { ...pod, volumes: [{ name: 'v', hostPath: { path: '/' } }] }],
    ['x may gain privileges', withContext({ allowPrivilegeEscalation: true })],
    ['x may gain privileges', withContext({ privileged: true })],
    ['x keeps capabilities', withContext({ capabilities: {} })],
    ['x adds capabilities', withContext({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } })],
    ['x runs as root', withContext({ runAsUser: 0 })],
    ['x has no seccomp profile of its own', withContext({ seccompProfile: { type: 'Unconfined' } })],
    ['x sees all of /proc', withContext({ procMount: 'Unmasked' })],
    [
      'x has a port of the host',
      { ...pod, containers: [{ ...container, ports: [{ containerPort: 1, hostPort: 1 }] }] },
    ],
    ['x may write to its root', withContext({ readOnlyRootFilesystem: false })],
  ])('is broken by one that %s', (problem, broken) => {
    expect(podSecurityProblems(broken)).toEqual([problem]);
  });

  it('is broken by a container that runs before the others, too', () => {
    const initContainers = [{ ...container, securityContext: {} }];
    expect(podSecurityProblems({ ...pod, initContainers })).toContain('x keeps capabilities');
  });
});
