import {
  type ApiCustomer,
  createApiCustomer,
  openStage,
  type Stage,
  testInternalSecret,
} from '@enterprise-api/testkit';
import { type CommandLine, createCommandLine } from './command-line.ts';

/** A running API with one customer, and the program with the customer's key and the internal secret. */
export interface CliStage extends AsyncDisposable {
  stage: Stage;
  customer: ApiCustomer;
  cli: CommandLine;
  apiUrl: string;
  internalUrl: string;
}

/** @param settings of the API, beyond those that it needs */
export async function openCliStage(settings: Record<string, string> = {}): Promise<CliStage> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openStage({ redisUrl: undefined }));
  const api = await stage.startApi(settings);
  const customer = await createApiCustomer(api);
  const cli = building.use(
    createCommandLine({
      ENTERPRISE_API_URL: api.url,
      ENTERPRISE_API_KEY: customer.key,
      ENTERPRISE_API_INTERNAL_URL: api.internalUrl,
      ENTERPRISE_API_INTERNAL_SECRET: testInternalSecret,
    }),
  );
  const resources = building.move();
  return {
    stage,
    customer,
    cli,
    apiUrl: api.url,
    internalUrl: api.internalUrl,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
