import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';

/**
 * Who may call whom, each rule with its reason: the table of docs/architecture.md, enforced. A rule forbids imports in
 * `files` (everywhere, if it names none) except where `allowedIn` says so.
 */
interface Boundary {
  imports: string[];
  message: string;
  files?: string[];
  allowedIn?: string[];
}

/** A room of the shared package, however it is spelt. */
const rooms = (...names: string[]) => names.flatMap((name) => [`**/${name}/**`, `@enterprise-api/shared/${name}`]);

const tests = ['**/*.test.ts', 'tests/**', '**/testing/**', 'packages/testkit/**'];
const tools = ['tools/**', 'bench/**', 'examples/**'];
const pureFiles = [
  'services/webhook-worker/src/attempt/{sign,build-request,classify,retry-policy,retry-after}.ts',
  'services/webhook-worker/src/scheduler/{endpoint-queue,in-flight}.ts',
  'services/api/src/auth/{key-format,authorize}.ts',
  'packages/shared/src/security/{address-rules,outbound-url,cidr,host-name,ip-address}.ts',
  'packages/shared/src/contracts/**',
];

const boundaries: Boundary[] = [
  {
    imports: ['*', '!zod', '!./*.ts'],
    message: 'Contracts are what both sides agree on: they import zod and nothing else.',
    files: ['packages/shared/src/contracts/**'],
    allowedIn: tests,
  },
  {
    imports: rooms('contracts', 'ledger', 'queue', 'events', 'preflight'),
    message: 'The rooms runtime and security are the ground: they stand on no other room.',
    files: ['packages/shared/src/{runtime,security}/**'],
  },
  {
    imports: rooms('events', 'preflight'),
    message: 'The rooms ledger and queue know the contracts, not who uses them.',
    files: ['packages/shared/src/{ledger,queue}/**'],
  },
  {
    imports: rooms('queue'),
    message: 'The ledger does not know the queue.',
    files: ['packages/shared/src/ledger/**'],
  },
  {
    imports: ['express', 'express/*'],
    message: 'Express stays at the edge: handlers get parsed input and a principal, and return data.',
    allowedIn: ['services/api/src/app.ts', 'services/api/src/{http,auth}/**', ...tests],
  },
  {
    imports: ['bullmq'],
    message: 'Only the queue room and workers.ts know BullMQ; everything else knows jobs.',
    allowedIn: [
      'packages/shared/src/queue/**',
      'packages/shared/src/ledger/migrate.ts',
      'services/webhook-worker/src/queue-workers.ts',
      ...tests,
    ],
  },
  {
    imports: ['undici', 'undici/*'],
    message: 'Deliveries leave through the guarded client alone: any other request would skip its address checks.',
    allowedIn: ['services/webhook-worker/src/sender/connection.ts', ...tests],
  },
  {
    imports: ['got'],
    message: 'got is the client for everything that is not a delivery, and the services send nothing else.',
    allowedIn: [...tools, ...tests],
  },
  {
    imports: ['kysely', 'kysely/*'],
    message: 'SQL lives in named functions in queries.ts (or the rooms ledger and events), one statement each.',
    allowedIn: [
      'packages/shared/src/{ledger,events}/**',
      '**/*queries.ts',
      'services/webhook-worker/src/leases/lease-row.ts',
      'services/api/src/pagination/sql-paging.ts',
      'services/api/src/deliveries/effective-status.ts',
      ...tools,
      ...tests,
    ],
  },
  {
    imports: ['pg'],
    message: 'Connections to PostgreSQL are made in the room ledger.',
    allowedIn: ['packages/shared/src/ledger/**', ...tools, ...tests],
  },
  {
    imports: ['ioredis'],
    message: 'Connections to Redis are made where they are owned: the queue, the change feed, the rate limiter.',
    allowedIn: [
      'packages/shared/src/{queue,ledger/change-feed}/**',
      'services/api/src/auth/rate-limit-store.ts',
      ...tools,
      ...tests,
    ],
  },
  {
    imports: ['@enterprise-api/testkit', '**/testing/**'],
    message: 'What helps tests must not be able to reach production.',
    allowedIn: [...tools, ...tests],
  },
  {
    imports: ['@enterprise-api/api', '@enterprise-api/webhook-worker', '**/services/**', '**/webhook-worker/**'],
    message: 'Services meet in the ledger and the queue, never in code.',
    allowedIn: ['tests/**'],
  },
  {
    imports: ['**/tools/**', '**/bench/**'],
    message: 'What `make start` adds to the product is not part of it.',
    allowedIn: [...tools, ...tests],
  },
  {
    imports: ['../*/*queries.ts'],
    message: "A feature asks another feature's service, and a stage another stage, but never for its tables.",
    files: ['services/*/src/*/**'],
    allowedIn: ['services/webhook-worker/src/pipeline/build.ts', ...tests],
  },
  {
    imports: ['**/service.ts', '**/routes.ts'],
    message: 'routes → service → queries, never upward.',
    files: ['services/*/src/**/*queries.ts'],
  },
  {
    imports: ['**/routes.ts'],
    message: 'routes → service → queries, never upward.',
    files: ['services/*/src/**/service.ts'],
  },
  {
    imports: ['fs', 'http', 'https', 'http2', 'dns', 'tls', 'child_process', 'timers'].flatMap((name) => [
      `node:${name}`,
      `node:${name}/*`,
    ]),
    message: 'This file is pure: it does no I/O, and time and chance come in as arguments.',
    files: pureFiles,
    allowedIn: tests,
  },
];

/**
 * One override per distinct set of rules, with the files it holds for. Spelled out file by file, because in a linter's
 * configuration a later override replaces the list of an earlier one, and a boundary would be lifted by accident.
 */
export function boundaryOverrides() {
  const byRules = new Map<string, { files: string[]; rules: Boundary[] }>();
  for (const file of globSync('{packages,services,tools,tests,examples,bench}/**/*.ts', {
    exclude: ['**/node_modules', '**/dist'],
  })) {
    const rules = boundaries.filter((boundary) => holdsFor(boundary, file));
    const key = rules.map((rule) => boundaries.indexOf(rule)).join();
    const entry = byRules.get(key) ?? { files: [], rules };
    entry.files.push(file);
    byRules.set(key, entry);
  }
  return [...byRules.values()].map(({ files, rules }) => ({
    files,
    rules: {
      'no-restricted-imports': [
        'error',
        { patterns: rules.map(({ imports, message }) => ({ group: imports, message })) },
      ] as const,
    },
  }));
}

function holdsFor({ files = ['**'], allowedIn = [] }: Boundary, file: string): boolean {
  const within = (globs: string[]) => globs.some((glob) => matchesGlob(file, glob));
  return within(files) && !within(allowedIn);
}
