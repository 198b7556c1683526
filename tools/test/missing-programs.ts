import {
  describeToolchain,
  findChromium,
  findKubectl,
  findPgBouncer,
  findPromtool,
  findToolchain,
  type ToolchainName,
} from '@enterprise-api/testkit';
import { findIngresses } from './ingress.ts';
import type { SearchOptions } from './install.ts';
import { findOrInstall, type ProgramSource } from './packaged-program.ts';
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
  for (const { name, isUsed, find } of others) {
    const users = filesWhere(isUsed);
    const source = users.length > 0 ? await find(options) : undefined;
    if (source?.kind === 'none')
      doWithout(source.problem, { name, advice: source.advice, notRun: users, runInPart: [] });
  }
  return { redis, missing };
}

/** What a search for a program has found. */
type Source = { kind: 'programs' } | ProgramSource;

/** Programs without which the suites that use them are not run at all. */
const others: readonly {
  name: string;
  isUsed: (suite: Suite) => boolean;
  find: (options: SearchOptions) => Promise<Source>;
}[] = [
  { name: 'nginx or no Caddy', isUsed: ({ ingress }) => ingress, find: findIngresses },
  {
    name: 'PgBouncer',
    isUsed: ({ pooler }) => pooler,
    find: findOrInstall({
      find: findPgBouncer,
      packageName: 'pgbouncer',
      advice:
        'Install PgBouncer (Debian, Ubuntu: sudo apt-get install pgbouncer; macOS: brew install pgbouncer); its service need not run.',
    }),
  },
  {
    name: 'Chromium',
    isUsed: ({ browser }) => browser,
    find: findOrInstall({
      find: findChromium,
      packageName: 'chromium',
      advice:
        'Install Chromium (Debian: sudo apt-get install chromium; macOS: brew install --cask chromium), or Google Chrome.',
    }),
  },
  {
    name: 'kubectl',
    isUsed: ({ kubectl }) => kubectl,
    find: findOrInstall({
      find: findKubectl,
      packageName: 'kubernetes-client',
      advice: 'Install kubectl (Debian: sudo apt-get install kubernetes-client; macOS: brew install kubernetes-cli).',
    }),
  },
  {
    name: 'promtool',
    isUsed: ({ promtool }) => promtool,
    find: findOrInstall({
      find: findPromtool,
      packageName: 'prometheus',
      advice:
        'Install promtool (Debian: sudo apt-get install prometheus; macOS: brew install prometheus); no server need run.',
    }),
  },
];

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
