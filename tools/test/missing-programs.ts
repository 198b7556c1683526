import { describeToolchain, findToolchain, type ToolchainName } from '@enterprise-api/testkit';
import { findBrowser } from './browser.ts';
import { findIngresses } from './ingress.ts';
import type { SearchOptions } from './install.ts';
import { findKubectlProgram } from './kubectl.ts';
import { findPooler } from './pooler.ts';
import { findRedis, type RedisSource } from './redis.ts';
import type { Suite } from './suites.ts';

/** What the tests have besides PostgreSQL, and what they must do without. */
export interface Programs {
  /** Undefined when no suite uses Redis. */
  readonly redis: RedisSource | undefined;
  readonly missing: readonly MissingProgram[];
}

/** A program that this machine has not, and cannot get. */
export interface MissingProgram {
  readonly name: string;
  readonly advice: string;
  readonly notRun: readonly string[];
  /** Files that run without those of their tests that need it. */
  readonly runInPart: readonly string[];
}

/** Finds, or installs where that is permitted, the programs that these suites need. */
export async function findPrograms(
  suites: readonly Suite[],
  options: SearchOptions & { givenRedisUrl: string | undefined },
): Promise<Programs> {
  const missing: MissingProgram[] = [];
  const doWithout = (problem: string, program: MissingProgram) => {
    options.say(`${problem}\nThe other tests run without it.`);
    missing.push(program);
  };
  const filesWhere = (holds: (suite: Suite) => boolean) => suites.filter(holds).map(({ file }) => file);
  const [only, also] = [filesWhere(({ redis }) => redis === 'only'), filesWhere(({ redis }) => redis === 'also')];
  const usesRedis = only.length + also.length > 0;
  const redis = usesRedis ? await findRedis({ ...options, givenUrl: options.givenRedisUrl }) : undefined;
  if (redis?.kind === 'none')
    doWithout(redis.problem, { name: 'Redis', advice: redis.advice, notRun: only, runInPart: also });
  const behindIngress = filesWhere(({ ingress }) => ingress);
  const ingress = behindIngress.length > 0 ? await findIngresses(options) : undefined;
  if (ingress?.kind === 'none')
    doWithout(ingress.problem, {
      name: 'nginx or no Caddy',
      advice: ingress.advice,
      notRun: behindIngress,
      runInPart: [],
    });
  const pooled = filesWhere(({ pooler }) => pooler);
  const pooler = pooled.length > 0 ? await findPooler(options) : undefined;
  if (pooler?.kind === 'none')
    doWithout(pooler.problem, { name: 'PgBouncer', advice: pooler.advice, notRun: pooled, runInPart: [] });
  const inBrowser = filesWhere(({ browser }) => browser);
  const browser = inBrowser.length > 0 ? await findBrowser(options) : undefined;
  if (browser?.kind === 'none')
    doWithout(browser.problem, { name: 'Chromium', advice: browser.advice, notRun: inBrowser, runInPart: [] });
  const building = filesWhere(({ kubectl }) => kubectl);
  const kubectl = building.length > 0 ? await findKubectlProgram(options) : undefined;
  if (kubectl?.kind === 'none')
    doWithout(kubectl.problem, { name: 'kubectl', advice: kubectl.advice, notRun: building, runInPart: [] });
  return { redis, missing };
}

/** Suites of other languages that this machine cannot run. That is no failure: nothing of the product needs them. */
export interface MissingToolchain {
  /** How a person calls it. */
  readonly name: string;
  readonly notRun: readonly string[];
}

/** Which of the toolchains that these suites use are not there. Each suite is named once. */
export function findMissingToolchains(suites: readonly Suite[], find = findToolchain): MissingToolchain[] {
  const used = [...new Set(suites.flatMap(({ toolchains }) => toolchains))];
  const missing = used.filter((name) => find(name) === undefined);
  const firstMissing = (suite: Suite) => suite.toolchains.find((name) => missing.includes(name));
  const notRun = (name: ToolchainName) => suites.filter((suite) => firstMissing(suite) === name);
  return missing
    .map((name) => ({ name: describeToolchain(name), notRun: notRun(name).map(({ file }) => file) }))
    .filter((toolchain) => toolchain.notRun.length > 0);
}

/** The lines about a missing toolchain, one for each suite. */
export function describeMissingToolchain(toolchain: MissingToolchain, shorten: (file: string) => string): string {
  return toolchain.notRun.map((file) => `${shorten(file)} not run: no ${toolchain.name} on this machine.`).join('\n');
}

/** What a person reads about a program that was missing. `shorten` makes a path readable. */
export function describeMissing(program: MissingProgram, shorten: (file: string) => string): string {
  const list = (files: readonly string[]) => files.map((file) => `\n  ${shorten(file)}`).join('');
  const parts = [
    program.notRun.length > 0 ? `Not run, because there is no ${program.name}:${list(program.notRun)}` : '',
    program.runInPart.length > 0
      ? `Run on PostgreSQL only, because there is no ${program.name}:${list(program.runInPart)}`
      : '',
    program.advice,
  ];
  return parts.filter((part) => part !== '').join('\n');
}
