import { expect, it } from '@jest/globals';
import type { Manifest } from './manifests.ts';
import { typeProblems } from './type-problems.ts';

const labels = { name: 'x' };
const budget = { maxUnavailable: 1, selector: { matchLabels: labels } };

const manifest = (name: string, apiVersion: string, kind: string, spec: object, isPatch = false): Manifest => ({
  name,
  content: { apiVersion, kind, metadata: { name: 'x' }, spec } as Manifest['content'],
  isPatch,
});

const deployment = (container: object, more = {}) => ({
  selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'x', image: 'y', ...container }] } },
  ...more,
});

it('finds unknown fields at any depth, wrong values, missing fields and unknown kinds, and nothing else', () => {
  const problems = typeProblems([
    manifest('right', 'apps/v1', 'Deployment', deployment({ ports: [{ containerPort: 80 }] })),
    manifest('misspelt', 'apps/v1', 'Deployment', deployment({ livenessProb: {} })),
    manifest('wrong value', 'apps/v1', 'Deployment', deployment({ ports: [{ containerPort: '80' }] })),
    manifest('missing field', 'apps/v1', 'Deployment', { replicas: 1 }),
    manifest('patch', 'apps/v1', 'Deployment', { replicas: 1 }, true),
    manifest('misspelt patch', 'apps/v1', 'Deployment', { replica: 1 }, true),
    manifest('budget', 'policy/v1', 'PodDisruptionBudget', budget),
    manifest('unknown version', 'policy/v9', 'PodDisruptionBudget', budget),
    manifest('KEDA', 'keda.sh/v1alpha1', 'ScaledObject', { scaleTargetRef: labels, triggers: [] }),
    manifest('misspelt KEDA', 'keda.sh/v1alpha1', 'ScaledObject', {
      scaleTargetRef: labels,
      triggers: [],
      minReplica: 1,
    }),
  ]);
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'misspelt',
    'wrong value',
    'missing field',
    'misspelt patch',
    'unknown version',
    'misspelt KEDA',
  ]);
  expect(problems[0]).toMatch(/livenessProb\W+ does not exist/);
});
