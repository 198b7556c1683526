import { defineConfig } from 'oxlint';
import { boundaryOverrides } from './tools/lint/boundaries.ts';

const entryPoints = ['**/main.ts', '**/*-main.ts'];
const tests = ['**/*.test.ts', 'tests/**', '**/testing/**', 'packages/testkit/**'];
const tools = ['tools/**', 'bench/**', 'examples/**'];

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'jest'],
  categories: { correctness: 'error' },
  options: { typeAware: true },
  rules: {
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/await-thenable': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/require-array-sort-compare': 'off',
    'jest/expect-expect': [
      'error',
      { assertFunctionNames: ['expect*', 'fc.assert', 'until', '**.untilDeliveries', '**.waitFor', '**.expect*'] },
    ],
    // Our objects are closures: their functions do not know `this`.
    'typescript/unbound-method': 'off',
    'import/no-cycle': 'error',
    'import/no-default-export': 'error',
    'node/no-process-env': 'error',
    'unicorn/no-process-exit': 'error',
  },
  overrides: [
    ...boundaryOverrides(),
    { files: [...entryPoints, ...tests, ...tools, 'jest.config.js'], rules: { 'node/no-process-env': 'off' } },
    // The SDK's client reads its defaults from the environment.
    { files: ['packages/sdk/src/options.ts'], rules: { 'node/no-process-env': 'off' } },
    { files: ['packages/shared/src/runtime/lifecycle.ts', ...tools], rules: { 'unicorn/no-process-exit': 'off' } },
    { files: ['*.config.js', '*.config.ts', 'tools/test/**'], rules: { 'import/no-default-export': 'off' } },
  ],
});
