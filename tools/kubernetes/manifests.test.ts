import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { readManifests, readResources, secretSettings } from './manifests.ts';

const budget = 'apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: { name: x }\n';
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'manifests-'));
  mkdirSync(join(folder, 'base'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const write = (path: string, text: string) => writeFileSync(join(folder, path), text);

describe('the manifests of a folder', () => {
  it('are the resources and patches that its kustomizations name', () => {
    write('base/kustomization.yaml', 'resources: [one.yaml]\npatchesStrategicMerge: [two.yaml]\n');
    write('base/one.yaml', `${budget}---\n${budget}`);
    write('base/two.yaml', budget);
    expect(readManifests(folder).map(({ name, isPatch }) => [name, isPatch])).toEqual([
      ['base/one.yaml (1)', false],
      ['base/one.yaml (2)', false],
      ['base/two.yaml (1)', true],
    ]);
  });

  it('are all named: a file that no kustomization names is an error', () => {
    write('base/kustomization.yaml', 'resources: []\n');
    write('base/forgotten.yaml', budget);
    expect(() => readManifests(folder)).toThrow('No kustomization.yaml names base/forgotten.yaml.');
  });
});

describe('a resource', () => {
  it.each([
    ['a key that appears more than once', `${budget}kind: Job\n`, /unique/],
    ['no name', 'apiVersion: v1\nkind: Secret\nmetadata: {}\n', /name/],
    ['broken YAML', 'apiVersion: [\n', /flow/i],
  ])('with %s is refused', (_what, text, problem) => {
    expect(() => readResources(text)).toThrow(problem);
  });
});

it('settings from a Secret are found wherever a manifest refers to one', () => {
  const env = [
    { name: 'DATABASE_URL', valueFrom: { secretKeyRef: { name: 's', key: 'DATABASE_URL', optional: true } } },
    { name: 'LOG_LEVEL', value: 'info' },
  ];
  expect([...secretSettings([{ content: { spec: { containers: [{ env }] } } }])]).toEqual(['DATABASE_URL']);
});
