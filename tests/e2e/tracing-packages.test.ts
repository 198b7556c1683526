import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { projectFolder } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';

/**
 * Loads all that both services consist of, and opens tracing. Prints each package of OpenTelemetry that is loaded, but the
 * interface: that comes with the library of the metrics, and records nothing.
 */
const program = (config: object | undefined) => `
  import { registerHooks } from 'node:module';
  registerHooks({
    resolve: (specifier, context, next) => {
      if (/^@opentelemetry\\/(?!api$)/.test(specifier)) console.log(specifier);
      return next(specifier, context);
    },
  });
  await import('./services/api/src/start.ts');
  await import('./services/webhook-worker/src/worker.ts');
  const { openTracing } = await import('./packages/shared/src/tracing/index.ts');
  const { createLogger, createMetrics } = await import('./packages/shared/src/runtime/index.ts');
  const log = createLogger('test', 'silent');
  await openTracing(${JSON.stringify(config)}, { serviceName: 'test', log, registry: createMetrics('test') });
  process.exit(0);`;

async function packagesLoadedWith(config: object | undefined): Promise<string[]> {
  const given = ['--input-type=module', '--disable-warning=ExperimentalWarning', '--eval', program(config)];
  const { stdout } = await promisify(execFile)(process.execPath, given, { cwd: projectFolder, timeout: 180_000 });
  return stdout.split('\n').filter((line) => line !== '');
}

it('the services load the packages that record spans only where an endpoint is set', async () => {
  expect(await packagesLoadedWith(undefined)).toEqual([]);
  const config = {
    url: 'http://127.0.0.1:1',
    headers: {},
    timeoutMs: 1,
    attributes: {},
    sampler: 'always_on',
    ratio: 1,
  };
  expect(await packagesLoadedWith(config)).toContain('@opentelemetry/sdk-trace');
}, 400_000);
