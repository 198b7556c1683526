import { type ApiCustomer, createApiCustomer, openStage } from '@enterprise-api/testkit';
import { startBrowser, type TestBrowser } from './browser.ts';

/** A browser, and the real API whose pages it reads. */
export interface BrowserStage extends AsyncDisposable {
  readonly browser: TestBrowser;
  /** The public listener. */
  readonly url: string;
  readonly customer: ApiCustomer;
}

export async function openBrowserStage(): Promise<BrowserStage> {
  await using building = new AsyncDisposableStack();
  const stage = building.use(await openStage({ redisUrl: undefined }));
  const api = await stage.startApi();
  const customer = await createApiCustomer(api);
  const browser = building.use(await startBrowser());
  const resources = building.move();
  return { browser, url: api.url, customer, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
