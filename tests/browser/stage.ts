import { type ApiCustomer, openApiStage } from '@enterprise-api/testkit';
import { startBrowser, type TestBrowser } from './browser.ts';

/** A browser, and the real API whose pages it reads. */
export interface BrowserStage extends AsyncDisposable {
  readonly browser: TestBrowser;
  /** The public listener. */
  readonly url: string;
  readonly customer: ApiCustomer;
}

/** @param settings of the API, beyond the usual ones */
export async function openBrowserStage(settings?: Record<string, string>): Promise<BrowserStage> {
  await using building = new AsyncDisposableStack();
  const { api, customer } = building.use(await openApiStage(settings));
  const browser = building.use(await startBrowser());
  const resources = building.move();
  return { browser, url: api.url, customer, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
