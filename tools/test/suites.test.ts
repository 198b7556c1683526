import { describe, expect, it } from '@jest/globals';
import { describeMissing, describeMissingToolchain, findMissingToolchains } from './missing-programs.ts';
import {
  needPostgres,
  redisUse,
  type Suite,
  usedToolchains,
  usesBrowser,
  usesIngress,
  usesKubectl,
  usesPooler,
  usesPromtool,
} from './suites.ts';

describe('redisUse', () => {
  it.each([
    ['describe.each(queueBackends())', 'also'],
    ['await using redis = await createTestRedis();', 'only'],
    ['redis = await startRedis({ port });', 'only'],
    ["it.each([['a Cluster', startRedisCluster]])('works on %s', run);", 'only'],
    ['describe.each(queueBackends()); await startRedis();', 'only'],
    ["import { createTestDatabase } from '@enterprise-api/testkit';", 'none'],
  ])('%s → %s', (source, use) => {
    expect(redisUse(source)).toBe(use);
  });
});

describe('usesIngress', () => {
  it.each([
    ["await using ingress = await startIngress('nginx', options);", true],
    ['stage = await openIngressStage(name);', true],
    ["import { startUpstream } from '@enterprise-api/testkit';", false],
  ])('%s → %s', (source, uses) => {
    expect(usesIngress(source)).toBe(uses);
  });
});

describe('usesPooler', () => {
  it.each([
    ['await using pooler = await startPgBouncer(database.url);', true],
    ['stage = await openStage({ redisUrl: undefined, pooled: true });', true],
    ["import { openStage } from '@enterprise-api/testkit';", false],
  ])('%s → %s', (source, uses) => {
    expect(usesPooler(source)).toBe(uses);
  });
});

describe('usesBrowser', () => {
  it.each([
    ['browser = await startBrowser();', true],
    ['stage = await openBrowserStage();', true],
    ["import { findChromium } from '@enterprise-api/testkit';", false],
  ])('%s → %s', (source, uses) => {
    expect(usesBrowser(source)).toBe(uses);
  });
});

describe('usesKubectl', () => {
  it.each([
    ['text = await buildKustomization(folder);', true],
    ['overlay = await buildOverlay(name);', true],
    ["import { findKubectl } from '@enterprise-api/testkit';", false],
  ])('%s → %s', (source, uses) => {
    expect(usesKubectl(source)).toBe(uses);
  });
});

describe('usesPromtool', () => {
  it.each([
    ["runPromtool(['check', 'metrics'], text)", true],
    ['prometheus = await startPrometheus(configuration);', true],
    ["import { runPromtool } from '@enterprise-api/testkit';", false],
  ])('%s → %s', (source, uses) => {
    expect(usesPromtool(source)).toBe(uses);
  });
});

describe('usedToolchains', () => {
  it.each([
    ["describeReceiver('Go', goReceiver(requireToolchain('go')));", ['go']],
    ["requireToolchain('python'); requireToolchain('curl')", ['python', 'curl']],
    ["requireToolchain('cobol')", []],
    ['requireToolchain(name)', []],
  ])('%s → %j', (source, used) => {
    expect(usedToolchains(source)).toEqual(used);
  });
});

describe('findMissingToolchains', () => {
  const suite = (file: string, toolchains: Suite['toolchains']): Suite => ({
    file,
    redis: 'none',
    ingress: false,
    pooler: false,
    browser: false,
    kubectl: false,
    promtool: false,
    toolchains,
  });
  const suites = [suite('/x/go.ts', ['go']), suite('/x/both.ts', ['curl', 'python']), suite('/x/plain.ts', [])];
  const lines = (find: Parameters<typeof findMissingToolchains>[1]) =>
    findMissingToolchains(suites, find).map((each) => describeMissingToolchain(each, (file) => file.slice(3)));

  it('says of each suite that is not run what it lacks', () => {
    expect(lines((name) => (name === 'curl' ? '/usr/bin/curl' : undefined))).toEqual([
      'go.ts not run: no Go 1.24 on this machine.',
      'both.ts not run: no Python on this machine.',
    ]);
  });

  it('names a suite once that lacks two', () => {
    expect(lines(() => undefined)).toEqual([
      'go.ts not run: no Go 1.24 on this machine.',
      'both.ts not run: no curl on this machine.',
    ]);
  });

  it('is empty when everything is there', () => {
    expect(lines((name) => `/usr/bin/${name}`)).toEqual([]);
  });
});

describe('describeMissing', () => {
  it('names each file that was not run, or not whole, and what to install', () => {
    const missing = { name: 'Redis', advice: 'Install it.', notRun: ['/x/a.ts'], runInPart: ['/x/b.ts', '/x/c.ts'] };
    expect(describeMissing(missing, (file) => file.replace('/x/', ''))).toBe(
      'Not run, because there is no Redis:\n  a.ts\n' +
        'Run on PostgreSQL only, because there is no Redis:\n  b.ts\n  c.ts\nInstall it.',
    );
  });
});

describe('needPostgres', () => {
  it('is true when one of the files is not a unit test', () => {
    expect(needPostgres(['/x/packages/shared/src/a.test.ts', '/x/tools/b.test.ts'])).toBe(false);
    expect(needPostgres(['/x/packages/shared/src/a.integration.test.ts'])).toBe(true);
    expect(needPostgres(['/x/tests/e2e/delivery.test.ts'])).toBe(true);
  });
});
