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

// Unit tests need nothing but Node. `make test` starts a PostgreSQL and a Redis for the others.
export default {
  testTimeout: 60_000,
  maxWorkers: 2,
  projects: [
    {
      ...common,
      displayName: 'unit',
      testMatch: ['<rootDir>/{packages,services}/*/src/**/*.test.ts', '<rootDir>/{tools,bench}/**/*.test.ts'],
      testPathIgnorePatterns: ['/node_modules/', '\\.integration\\.test\\.ts$'],
    },
    {
      ...common,
      displayName: 'integration',
      setupFilesAfterEnv,
      testMatch: [
        '<rootDir>/{packages,services}/*/src/**/*.integration.test.ts',
        '<rootDir>/tools/**/*.integration.test.ts',
      ],
    },
    {
      ...common,
      displayName: 'e2e',
      setupFilesAfterEnv,
      testMatch: ['<rootDir>/tests/**/*.test.ts'],
    },
  ],
};
