import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Database } from '@enterprise-api/shared/ledger';
import {
  type ApiCustomer,
  createApiCustomer,
  freePort,
  openStage,
  projectFolder,
  type Receiver,
  type ReceiverOptions,
  type ServiceProcess,
  until,
} from '@enterprise-api/testkit';
import type { Locator, Page } from 'playwright-core';
import { loadAxe } from './accessibility.ts';
import { desktop, startBrowser, type TestBrowser, type TestWindow } from './browser.ts';

/** The whole product with the pages of the console, a receiver, and a browser. */
export interface ConsoleStage extends AsyncDisposable {
  readonly browser: TestBrowser;
  /** Where the pages are. */
  readonly origin: string;
  readonly customer: ApiCustomer;
  readonly receiver: Receiver;
  readonly api: ServiceProcess;
  readonly db: Database;
  /** A link that enters once. */
  link(values?: SessionValues): Promise<string>;
  endSessions(): Promise<void>;
  /** A window whose session has these values, at a page of the organization. */
  enter(page: string, values?: SessionValues, options?: Parameters<TestBrowser['open']>[0]): Promise<TestWindow>;
}

/** What a session may do, is called and opens first; by default everything that the console shows. */
interface SessionValues {
  scopes?: string[];
  label?: string;
  show_bodies?: boolean;
  path?: string;
}

export async function openConsoleStage(respond: ReceiverOptions['respond']): Promise<ConsoleStage> {
  await promisify(execFile)(process.execPath, [join(projectFolder, 'packages/console/build.ts')]);
  await using building = new AsyncDisposableStack();
  const quick = { WEBHOOK_RETRY_SCHEDULE: '100ms,100ms', WEBHOOK_RETRY_JITTER: '0' };
  const stage = building.use(await openStage({ redisUrl: undefined, settings: quick }));
  const receiver = await stage.startReceiver(respond && { respond });
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const api = await stage.startApi({
    API_PORT: String(port),
    API_HOST: '127.0.0.1',
    CONSOLE_PUBLIC_URL: origin,
    CONSOLE_SIGN_IN_URL: 'https://owner.example/console',
    CONSOLE_RATE_LIMIT: '100000',
  });
  await stage.startWorker();
  const customer = await createApiCustomer(api);
  const sessions = `/internal/v1/organizations/${customer.organizationId}/console-sessions`;
  const actor = { 'X-Actor': 'test' };
  const link = async (values: SessionValues = {}) => {
    const body = { scopes: everyScope, label: 'Ada Lovelace', ...values };
    const answer = await customer.internal('POST', sessions, body, actor);
    if (answer.status !== 201) throw new Error(answer.text);
    return (JSON.parse(answer.text) as { url: string }).url;
  };
  const endSessions = async () => {
    const { data } = JSON.parse((await customer.internal('GET', `${sessions}?limit=100`)).text) as {
      data: { id: string }[];
    };
    for (const { id } of data) await customer.internal('DELETE', `${sessions}/${id}`, undefined, actor);
  };
  const browser = building.use(await startBrowser());
  const resources = building.move();
  return {
    browser,
    origin,
    link,
    endSessions,
    customer,
    receiver,
    api,
    db: stage.db,
    enter: async (path, values, options = desktop) => {
      const window = await browser.open(options);
      const { page } = window;
      await loadAxe(page);
      const who = page.locator('.who');
      // On a busy machine PostgreSQL may take too long to answer, and entering is 503.
      do {
        await page.goto(await link(values));
        await page.getByRole('button', { name: 'Open console' }).click();
        await who.or(page.getByRole('alert')).first().waitFor({ state: 'attached' });
      } while ((await who.count()) === 0);
      await show(page, `${origin}/console/${customer.organizationId}${path}`);
      return window;
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const everyScope = ['me:read', 'webhooks:read', 'webhooks:write', 'usage:read', 'keys:read', 'keys:write'];

/** Loads a page of the console, and waits until it has read all that it shows. */
export async function show(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await untilShown(page);
}

export async function untilShown(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  const unread = page.locator('.loading, [aria-busy="true"]');
  await until('everything that the page reads', () => unread.count(), {
    holds: (found) => found === 0,
    withinMs: 60_000,
  });
}

/** Presses Tab until the element has the focus, as a person without a mouse does. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor();
  for (let presses = 0; presses < 100; presses++) {
    if (await element.evaluate((node: { matches(selector: string): boolean }) => node.matches(':focus'))) return;
    await page.keyboard.press('Tab');
  }
  throw new Error(`100 times Tab did not reach ${String(element)}`);
}

export async function press(page: Page, element: Locator): Promise<void> {
  await tabTo(page, element);
  await page.keyboard.press('Enter');
}
