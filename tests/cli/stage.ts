import { type ApiStage, openApiStage, testInternalSecret } from '@enterprise-api/testkit';
import { type CommandLine, createCommandLine } from './command-line.ts';

/** A running API with one customer, and the program with the customer's key and the internal secret. */
export interface CliStage extends ApiStage {
  cli: CommandLine;
}

/** @param settings of the API, beyond those that it needs */
export async function openCliStage(settings: Record<string, string> = {}): Promise<CliStage> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openApiStage(settings));
  const cli = building.use(
    createCommandLine({
      ENTERPRISE_API_URL: stage.api.url,
      ENTERPRISE_API_KEY: stage.customer.key,
      ENTERPRISE_API_INTERNAL_URL: stage.api.internalUrl,
      ENTERPRISE_API_INTERNAL_SECRET: testInternalSecret,
    }),
  );
  const resources = building.move();
  return { ...stage, cli, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
