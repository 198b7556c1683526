import { type ApiCustomer, createApiCustomer } from '../http/api-client.ts';
import type { ServiceProcess } from '../processes/service.ts';
import { openStage, type Stage } from './stage.ts';

/** A stage with an API and one customer of it, whose queue is in PostgreSQL. */
export interface ApiStage extends AsyncDisposable {
  readonly stage: Stage;
  readonly api: ServiceProcess;
  readonly customer: ApiCustomer;
}

/** @param settings of the API, beyond those that a stage needs */
export async function openApiStage(settings: Record<string, string> = {}): Promise<ApiStage> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openStage({ redisUrl: undefined }));
  const api = await stage.startApi(settings);
  const customer = await createApiCustomer(api);
  const resources = building.move();
  return { stage, api, customer, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
