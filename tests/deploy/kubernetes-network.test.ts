import { cidrContains, createAddressPolicy } from '@enterprise-api/shared/security';
import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { INetworkPolicy, INetworkPolicyPeer, INetworkPolicyPort } from 'kubernetes-models/networking.k8s.io/v1';
import { buildOverlay, type Overlay, overlayNames } from './overlay.ts';

const { permits: isPublicAddress } = createAddressPolicy({ allowedPrivateCidrs: [] });

const pods = ['api', 'webhook-worker', 'migrate'];
/** Addresses of metadata services, and one of each range that is not the public internet. */
const forbidden = `
  169.254.169.254 168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 fe80::a9fe:a9fe
  0.0.0.0 10.0.0.1 100.64.0.1 127.0.0.1 172.16.0.1 172.31.255.255 192.0.2.1 192.88.99.1
  192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1 224.0.0.1 240.0.0.1
  ::1 64:ff9b::a00:1 2001::1 2001:db8::1 2002:a00:1::1 3fff::1 fc00::1 ff02::1
`
  .trim()
  .split(/\s+/);
const globalUnicast = fc
  .tuple(fc.integer({ min: 0x2000, max: 0x3fff }), fc.nat(0xffff))
  .map(([first, second]) => `${first.toString(16)}:${second.toString(16)}::1`);
const overlays = new Map<string, Overlay>();

beforeAll(async () => {
  for (const name of overlayNames) overlays.set(name, await buildOverlay(name));
});

type Rule = { peers: INetworkPolicyPeer[]; ports: INetworkPolicyPort[] };

/** The policies of a direction that hold for a pod. */
function policiesOf(overlay: string, pod: string, direction: 'Ingress' | 'Egress'): INetworkPolicy[] {
  const built = overlays.get(overlay) as Overlay;
  const labels = built.pods()[pod]?.labels ?? {};
  return built.all('NetworkPolicy').filter(({ spec }) => {
    const { matchLabels = {}, matchExpressions = [] } = spec?.podSelector ?? {};
    const isMatch =
      Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
      matchExpressions.every(({ key, values = [] }) => values.includes(labels[key] ?? ''));
    return isMatch && spec?.policyTypes?.includes(direction);
  });
}

function egressOf(overlay: string, pod: string): Rule[] {
  const rules = policiesOf(overlay, pod, 'Egress').flatMap(({ spec }) => spec?.egress ?? []);
  return rules.map(({ to = [], ports = [] }) => ({ peers: to, ports }));
}

function ingressOf(overlay: string, pod: string): Rule[] {
  const rules = policiesOf(overlay, pod, 'Ingress').flatMap(({ spec }) => spec?.ingress ?? []);
  return rules.map(({ from = [], ports = [] }) => ({ peers: from, ports }));
}

/** What rules let pass, one line each; kustomize puts policies into an order of its own. */
function describeRules(rules: readonly Rule[]): string[] {
  return rules.map(describeRule).sort();
}

function describeRule({ peers, ports }: Rule): string {
  const places = peers.map(({ ipBlock, namespaceSelector, podSelector }) => {
    const labels = { ...namespaceSelector?.matchLabels, ...podSelector?.matchLabels };
    return (
      ipBlock?.cidr ??
      Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(',')
    );
  });
  const numbers = ports.map(({ port, endPort }) => (endPort === undefined ? port : `${port}-${endPort}`));
  return `${places.join(' ') || 'everywhere'}: ${numbers.join(' ') || 'every port'}`;
}

/** Whether a rule by address lets this one pass. */
function permits(rules: readonly Rule[], address: string): boolean {
  return rules
    .flatMap(({ peers }) => peers)
    .some(
      ({ ipBlock }) =>
        ipBlock !== undefined &&
        cidrContains(ipBlock.cidr, address) &&
        !(ipBlock.except ?? []).some((range) => cidrContains(range, address)),
    );
}

const names = 'kubernetes.io/metadata.name=kube-system,k8s-app=kube-dns: 53 53';
const stores = 'enterprise-api/stores=true: 5432 6379 6432 26379';
const traces = 'enterprise-api/traces=true: 4318';

describe.each(overlayNames)('in the overlay %s', (overlay) => {
  it.each(pods)('%s can be reached, and reaches others, only where a policy says so', (pod) => {
    for (const direction of ['Ingress', 'Egress'] as const) {
      const denying = policiesOf(overlay, pod, direction).filter(({ spec }) => !spec?.ingress && !spec?.egress);
      expect(denying.map(({ metadata }) => metadata?.name)).toEqual(['deny-everything-else']);
    }
  });

  it('the migration reaches the stores, and nobody reaches it', () => {
    expect(describeRules(egressOf(overlay, 'migrate'))).toEqual([stores, names]);
    expect(ingressOf(overlay, 'migrate')).toEqual([]);
  });

  it('the API reaches the stores, a collector of traces and the services behind it; its two listeners have callers of their own', () => {
    expect(describeRules(egressOf(overlay, 'api'))).toEqual([
      stores,
      traces,
      'enterprise-api/upstream=true: every port',
      names,
    ]);
    expect(describeRules(ingressOf(overlay, 'api'))).toEqual([
      'enterprise-api/ingress=true: 3000',
      'enterprise-api/internal-caller=true: 3001',
      'enterprise-api/monitoring=true: 3001 3002',
    ]);
  });

  it('the worker reaches the stores, a collector of traces and the ports of receivers, and only its metrics are read', () => {
    const receivers = '0.0.0.0/0 2000::/3: 443 1024-65535';
    expect(describeRules(egressOf(overlay, 'webhook-worker'))).toEqual([receivers, stores, traces, names]);
    expect(describeRules(ingressOf(overlay, 'webhook-worker'))).toEqual(['enterprise-api/monitoring=true: 3001 3002']);
  });

  it.each(forbidden)('the worker does not reach %s', (address) => {
    expect(isPublicAddress(address)).toBe(false);
    expect(permits(egressOf(overlay, 'webhook-worker'), address)).toBe(false);
  });

  it('the worker reaches exactly the addresses that its own rule permits', () => {
    const rules = egressOf(overlay, 'webhook-worker');
    expect(permits(rules, '1.1.1.1') && permits(rules, '2606:4700:4700::1111')).toBe(true);
    fc.assert(
      fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), globalUnicast), (address) => {
        // An IPv4 address in the form of an IPv6 one never is on the wire.
        fc.pre(!address.startsWith('::'));
        expect(permits(rules, address)).toBe(isPublicAddress(address));
      }),
      { numRuns: 2_000 },
    );
  });
});
