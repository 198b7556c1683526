import { globSync } from 'node:fs';
import { matchesGlob } from 'node:path';

/** One row of "Who may call whom" in docs/architecture.md. */
interface Boundary {
  /** What must not be imported. */
  imports: string[];
  /** The reason, shown with the error. */
  message: string;
  /** Where the rule holds; everywhere by default. */
  files?: string[];
  allowedIn?: string[];
}

/** Entries of the shared package, imported by path or by package name. */
const entries = (...names: string[]) => names.flatMap((name) => [`**/${name}/**`, `@enterprise-api/shared/${name}`]);

const tests = ['**/*.test.ts', 'tests/**', '**/testing/**', 'packages/testkit/**'];
const tools = ['tools/**', 'bench/**', 'examples/**'];
const pureFiles = [
  'services/webhook-worker/src/deliver/{deliver,classify,retry-policy,retry-after}.ts',
  'services/api/src/auth/{key-format,scopes}.ts',
  'services/api/src/forwarding/headers.ts',
  'packages/shared/src/security/{address-rules,outbound-url,cidr}.ts',
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
    // The types of events are erased.
    imports: ['*', '!./*.ts', '!../generated/openapi.ts'],
    message:
      'The verifier runs in every runtime, edge and browsers included: it imports nothing, also no Node.js module.',
    files: ['packages/sdk/src/webhooks/**'],
    allowedIn: tests,
  },
  {
    imports: ['@enterprise-api/*'],
    message: 'The SDK is installed outside this workspace, where none of our other packages is.',
    files: ['packages/sdk/src/**'],
    allowedIn: tests,
  },
  {
    imports: entries('contracts', 'ledger', 'queue', 'redis', 'events', 'preflight', 'internal-service'),
    message: 'runtime and security import no other entry of the shared package: every other entry builds on them.',
    files: ['packages/shared/src/{runtime,security}/**'],
  },
  {
    imports: entries('events', 'preflight', 'internal-service'),
    message: 'ledger and queue may import contracts, but nothing that is built on them.',
    files: ['packages/shared/src/{ledger,queue}/**'],
  },
  {
    imports: entries('queue'),
    message: 'The ledger works without a queue and does not import it. Migrations bring both up to date.',
    files: ['packages/shared/src/ledger/**'],
    allowedIn: ['packages/shared/src/ledger/migrate.ts'],
  },
  {
    imports: ['@enterprise-api/*', '!@enterprise-api/sdk', '!@enterprise-api/sdk/webhooks'],
    message: 'The command line is a client like any other: of this workspace it knows the SDK alone.',
    files: ['packages/cli/src/**'],
    allowedIn: tests,
  },
  {
    imports: ['express', 'express/*'],
    message:
      'Express types belong in http/, auth/ and the mounts of other rooms: handlers get parsed input and a principal, and return data.',
    allowedIn: [
      'services/api/src/{http,auth}/**',
      'services/api/src/{forward-authentication,reference}/route.ts',
      'services/api/src/openapi/serve-document.ts',
      'services/api/src/console/{serve,guard,pages}.ts',
      ...tools,
      ...tests,
    ],
  },
  {
    // The types of a route name its tag, its transaction, and the answer that is stored for its `Idempotency-Key`.
    imports: ['../../*/**', '!../../core/*.ts', '!../../idempotency/run-once.ts', '!../../openapi/tags.ts'],
    message: 'http/ knows no feature: a feature mounts itself, and start.ts passes the mount on.',
    files: ['services/api/src/http/**'],
    allowedIn: tests,
  },
  {
    imports: ['bullmq'],
    message:
      'BullMQ belongs in queue/ and in the two files that consume its jobs; all other code uses the job catalogue.',
    allowedIn: [
      'packages/shared/src/queue/**',
      'packages/shared/src/ledger/migrate.ts',
      'services/webhook-worker/src/queue-{jobs,workers}.ts',
      ...tests,
    ],
  },
  {
    imports: ['undici', 'undici/*'],
    message:
      'Deliveries are sent by sender/ alone: any other client would skip the address checks. The API sends requests to upstreams only, in forwarding/.',
    allowedIn: [
      'services/webhook-worker/src/sender/connection.ts',
      'services/api/src/forwarding/{connection,exchange}.ts',
      ...tests,
    ],
  },
  {
    imports: ['got'],
    message: 'Services send deliveries only, and not with got: it is for the SDK, the command line, tools and tests.',
    allowedIn: [
      'packages/sdk/src/http/{transport,open-stream,got-client}.ts',
      'packages/cli/src/listen/forward.ts',
      ...tools,
      ...tests,
    ],
  },
  {
    imports: ['marked', 'marked/*'],
    message:
      'What marked renders becomes markup as it is: only markdown.ts of the reference calls it, with texts of ours.',
    allowedIn: ['services/api/src/reference/markdown.ts', ...tests],
  },
  {
    imports: ['jose', 'jose/*'],
    message: 'Identity tokens are signed in identity/ alone, which caches them, and verified in internal-service/.',
    allowedIn: ['services/api/src/identity/**', 'packages/shared/src/internal-service/**', ...tools, ...tests],
  },
  {
    imports: ['kysely', 'kysely/*'],
    message: 'SQL belongs in named functions of queries.ts, ledger/ or events/, one statement each.',
    allowedIn: [
      'packages/shared/src/{ledger,events}/**',
      '**/*queries.ts',
      'services/webhook-worker/src/leases/lease.ts',
      'services/webhook-worker/src/dispatch/visited-webhooks.ts',
      'services/webhook-worker/src/outcomes/{health-changes,record-outcomes}.ts',
      'services/api/src/pagination/sql-paging.ts',
      'services/api/src/deliveries/effective-status.ts',
      ...tools,
      ...tests,
    ],
  },
  {
    imports: ['pg'],
    message: 'Connections to PostgreSQL are opened in ledger/.',
    allowedIn: ['packages/shared/src/ledger/**', ...tools, ...tests],
  },
  {
    imports: ['ioredis'],
    message: 'Connections to Redis are opened in redis/, which knows its forms, and by BullMQ.',
    allowedIn: ['packages/shared/src/{redis,queue}/**', ...tools, ...tests],
  },
  {
    imports: ['@enterprise-api/testkit', '**/testing/**'],
    message: 'Code for tests must not run in production.',
    allowedIn: [...tools, ...tests],
  },
  {
    imports: ['@enterprise-api/api', '@enterprise-api/webhook-worker', '**/services/**', '**/webhook-worker/**'],
    message:
      'Services share the ledger and the queue, but no code of their own: shared code belongs in packages/shared.',
    allowedIn: ['tests/**'],
  },
  {
    imports: ['**/tools/**', '**/bench/**'],
    message: 'Tools and benchmarks run the product; the product does not import them.',
    allowedIn: [...tools, ...tests],
  },
  {
    imports: ['../*/*queries.ts'],
    message:
      "A folder's queries.ts is its own: other folders call its service or stage. Composition roots pass queries on.",
    files: ['services/*/src/*/**'],
    allowedIn: ['services/webhook-worker/src/worker.ts', ...tests],
  },
  {
    imports: ['**/service.ts', '**/routes.ts'],
    message: 'Imports go from routes to service to queries, never back.',
    files: ['services/*/src/**/*queries.ts'],
  },
  {
    imports: ['**/routes.ts'],
    message: 'Imports go from routes to service to queries, never back.',
    files: ['services/*/src/**/service.ts'],
  },
  {
    imports: ['fs', 'http', 'https', 'http2', 'dns', 'tls', 'child_process', 'timers'].flatMap((name) => [
      `node:${name}`,
      `node:${name}/*`,
    ]),
    message: 'This file is pure: it does no I/O, and takes time and randomness as arguments.',
    files: pureFiles,
    allowedIn: tests,
  },
];

/**
 * One override per distinct set of rules, with the files it holds for. Spelled out file by file, because in a linter's
 * configuration a later override replaces the list of an earlier one, and a boundary would be lifted by accident.
 */
/**
 * Lists every file under exactly one override. If two overrides match a file, oxlint's later list of forbidden imports
 * replaces the earlier one. Other tools for import rules need TypeScript's JavaScript API, which TypeScript 7 lacks.
 */
export function boundaryOverrides() {
  const allFiles = globSync('{packages,services,tools,tests,examples,bench}/**/*.{ts,tsx}', {
    exclude: ['**/node_modules', '**/dist'],
  });
  refuseStaleGlobs(allFiles);
  const byRules = new Map<string, { files: string[]; rules: Boundary[] }>();
  for (const file of allFiles) {
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

/** A file that is renamed must not lose its rule, nor keep its exception, without a sign. */
function refuseStaleGlobs(allFiles: string[]): void {
  const globs = boundaries.flatMap(({ files = [], allowedIn = [] }) => [...files, ...allowedIn]);
  const named = globs.flatMap(expandBraces).filter((glob) => !tests.includes(glob) && !tools.includes(glob));
  const stale = named.filter((glob) => !allFiles.some((file) => matchesGlob(file, glob)));
  if (stale.length > 0) throw new Error(`tools/lint/boundaries.ts names files that do not exist: ${stale.join(', ')}`);
}

/** `a/{b,c}.ts` → `a/b.ts`, `a/c.ts`; one pair of braces. */
function expandBraces(glob: string): string[] {
  const [, before = glob, names = '', after = ''] = /^(.*)\{(.*)\}(.*)$/.exec(glob) ?? [];
  return names.split(',').map((name) => before + name + after);
}

function holdsFor({ files = ['**'], allowedIn = [] }: Boundary, file: string): boolean {
  const within = (globs: string[]) => globs.some((glob) => matchesGlob(file, glob));
  return within(files) && !within(allowedIn);
}
