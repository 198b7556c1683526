const common = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { parser: { syntax: 'typescript' }, target: 'es2024' },
        module: { type: 'es6' },
        sourceMaps: 'inline',
      },
    ],
  },
  modulePathIgnorePatterns: ['/dist/', '/\\.data/'],
};

// A warning of Node.js in the output of a service fails the file; an answer that the OpenAPI document does not describe
// fails its test.
const setupFilesAfterEnv = [
  '<rootDir>/packages/testkit/src/processes/fail-on-node-warnings.ts',
  '<rootDir>/packages/testkit/src/openapi/check-answers-in-tests.ts',
];

// They start PostgreSQL, find a Redis, and install what else the suites of a project need.
const prepared = (setup) => ({
  setupFilesAfterEnv,
  globalSetup: `<rootDir>/tools/test/setup/${setup}.ts`,
  globalTeardown: '<rootDir>/tools/test/tear-down.ts',
});

// Large suites beside the one end-to-end path of each promise: GiB, 100,000 webhooks, 150,000 random requests, the tour,
// the example service, client libraries, a failover, a collector that is away, the drills' own tools, closings, limits and
// recoveries with several workers on both queues.
const long = [
  '/services/api/src/forwarding/transfers\\.test\\.ts$',
  '/services/api/src/(event-history/after-failover|http/parsing/fuzz)\\.integration\\.test\\.ts$',
  '/tests/cli/listen-api\\.test\\.ts$',
  '/tests/e2e/(closed-organization|tracing|webhook-controls|webhook-recovery)\\.test\\.ts$',
  '/tests/e2e/(collector-away|consultations|consultations-killed|demo|forwarding-memory|many-webhooks)\\.test\\.ts$',
  '/tests/e2e/(openai-client|redis-tls|scim-provisioning|trace-context|tracing-packages)\\.test\\.ts$',
  '/packages/testkit/src/embedded-postgres/.*\\.test\\.ts$',
];
const pooler = ['/tests/e2e/(pooler|replica)\\.test\\.ts$'];

const onlyInTestAll = {
  campaign: { testMatch: ['<rootDir>/tests/{faults,drills,security,upgrade}/**/*.test.ts'] },
  browser: { setup: 'browser', testMatch: ['<rootDir>/tests/browser/**/*.test.ts'] },
  languages: { testMatch: ['<rootDir>/tests/{calling,receivers}/**/*.test.ts'] },
  ingress: {
    setup: 'ingress',
    testMatch: ['<rootDir>/tests/ingress/**/*.test.ts'],
  },
  deploy: { setup: 'deploy', testMatch: ['<rootDir>/tests/{deploy,monitoring,package}/**/*.test.ts'] },
  long: { testRegex: long },
  pooler: { setup: 'pooler', testRegex: pooler },
};

// Unit tests need nothing but Node.
export default {
  // A slow machine makes tests slower, not red.
  testTimeout: 300_000,
  maxWorkers: 2,
  reporters: ['default', '<rootDir>/tools/test/totals-reporter.ts'],
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.test.ts', '<rootDir>/{tools,bench}/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.integration\\.test\\.ts$', ...long],
    },
    {
      ...common,
      displayName: 'integration',
      ...prepared('stores'),
      testMatch: [
        '<rootDir>/{packages,services}/*/src/**/*.integration.test.ts',
        '<rootDir>/tools/**/*.integration.test.ts',
      ],
      testPathIgnorePatterns: ['/node_modules/', ...long],
    },
    {
      ...common,
      displayName: 'e2e',
      ...prepared('browser'),
      testMatch: ['<rootDir>/tests/{e2e,sdk,cli}/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', ...long, ...pooler],
    },
    // From here on the projects that only `make test-all` runs.
    ...Object.entries(onlyInTestAll).map(([displayName, { setup = 'stores', ...tests }]) => ({
      ...common,
      displayName,
      ...prepared(setup),
      ...tests,
    })),
  ],
};
