import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { expectGood, loadAxe } from './accessibility.ts';
import { phone } from './browser.ts';
import { type ConsoleStage, openConsoleStage, press, show, tabTo, untilShown } from './console-stage.ts';

jest.setTimeout(300_000);

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await openConsoleStage(() => ({}));
});
afterAll(async () => stage[Symbol.asyncDispose]());

const refuse = async (page: Page, pattern: string, status: number, code: string) => {
  const error = { type: 'api_error', code, message: 'Something.', request_id: 'req_0123', retry_after: 30 };
  await page.route(pattern, (route) => route.fulfill({ status, json: { error } }));
};

/** What brings a page into a state, and the words that show the state. */
type State = [name: string, path: string, words: string, bring: (page: Page) => Promise<unknown>];
const nothing = async () => undefined;
const empty = { data: [], has_more: false, next_cursor: null };

describe('an organization without a webhook', () => {
  const states: State[] = [
    ['the first run', '', 'Get your first event', nothing],
    ['no webhook', '/webhooks', 'No webhook yet.', nothing],
    ['no delivery', '/deliveries', 'No delivery matches.', nothing],
    ['no event', '/events', 'No event matches.', nothing],
    ['nothing live', '/live', 'No delivery matches.', nothing],
    [
      'no key',
      '/keys',
      'No key yet.',
      async (page) => {
        await page.route('**/keys?*', (route) => route.fulfill({ json: empty }));
        await page.reload();
      },
    ],
    [
      'loading',
      '/events',
      'Loading …',
      async (page) => {
        await page.route('**/v1/events?*', () => undefined);
        await page.reload();
      },
    ],
    [
      'loading the session',
      '/events',
      'Loading …',
      async (page) => {
        await page.route('**/console/api/*/session', () => undefined);
        await page.reload();
      },
    ],
    [
      'an error',
      '/deliveries',
      'req_0123',
      async (page) => {
        await refuse(page, '**/v1/webhooks/deliveries?*', 503, 'unavailable');
        await page.reload();
      },
    ],
    [
      'a limit',
      '/deliveries',
      'The page asks again in',
      async (page) => {
        await refuse(page, '**/v1/webhooks/deliveries?*', 429, 'rate_limited');
        await page.reload();
      },
    ],
    [
      'the end of a session',
      '/live',
      'Sign in again',
      async (page) => {
        await stage.endSessions();
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('link', { name: 'Events', exact: true }).click();
      },
    ],
    [
      'the end of a session below a dialog',
      '/keys',
      'Sign in again',
      async (page) => {
        await page.getByRole('button', { name: 'Create key' }).click();
        await page.getByLabel('Name').fill('Typed');
        await page.getByLabel('webhooks:read').check();
        await stage.endSessions();
        await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
        await page.getByRole('dialog').getByRole('link', { name: 'Sign in again' }).waitFor();
      },
    ],
    [
      'no session',
      '/events',
      'Sign in again',
      async (page) => {
        await page.context().clearCookies();
        await page.reload();
      },
    ],
    [
      'signed out',
      '/events',
      'You are signed out.',
      async (page) => {
        await page.getByRole('button', { name: 'Menu' }).click();
        await page.getByRole('button', { name: 'Sign out' }).click();
      },
    ],
  ];

  it.each(states)(
    '%s breaks no rule of accessibility and does not scroll sideways',
    async (_name, path, words, bring) => {
      await using window = await stage.enter(path, {}, phone);
      const { page } = window;
      await bring(page);
      await page.getByText(words).first().waitFor();
      await expectGood(page);
    },
  );

  it('so do a page that a session may not change, a link that was used, and no link', async () => {
    const link = await stage.link();
    await using reader = await stage.enter('/webhooks/new', { scopes: ['me:read', 'webhooks:read'] }, phone);
    await reader.page.getByText('Read-only').waitFor();
    await expectGood(reader.page);
    await using window = await stage.browser.open(phone);
    const { page } = window;
    await loadAxe(page);
    for (const words of ['Overview', 'Open the console']) {
      await page.goto(link);
      await page.getByRole('button', { name: 'Open console' }).click();
      await page.getByRole('heading', { name: words }).waitFor();
    }
    await page.getByText('This link does not work').waitFor();
    await expectGood(page);
    await page.goto(`${stage.origin}/console/enter`);
    await page.getByText('this address has none').waitFor();
    await expectGood(page);
  });
});

describe('the focus of a keyboard', () => {
  let id: string;
  beforeAll(async () => {
    id = (await stage.customer.createWebhook(stage.receiver.url('/works'))).id;
  });
  const waitForFocus = async (page: Page, element: Locator) => {
    const handle = await element.elementHandle();
    await page.waitForFunction(
      (node) => node === (globalThis as { document?: { activeElement: unknown } }).document?.activeElement,
      handle,
    );
  };

  it('is on the heading after a person has entered, and after a person has signed out', async () => {
    await using window = await stage.browser.open();
    const { page } = window;
    await page.goto(await stage.link());
    await press(page, page.getByRole('button', { name: 'Open console' }));
    await waitForFocus(page, page.getByRole('heading', { name: 'Overview' }));
    await press(page, page.getByRole('button', { name: 'Sign out' }));
    await page.getByText('You are signed out.').waitFor();
    await waitForFocus(page, page.getByRole('heading'));
  });

  it('stays at the filters when they are applied or cleared', async () => {
    await using window = await stage.enter('/deliveries');
    const { page } = window;
    const apply = page.getByRole('button', { name: 'Apply' });
    await tabTo(page, page.getByLabel('About'));
    await page.keyboard.type('batch_1');
    await page.keyboard.press('Enter');
    await page.waitForURL('**subject=batch_1');
    await untilShown(page);
    await waitForFocus(page, apply);
    await press(page, page.getByRole('button', { name: 'Clear filters' }));
    await page.waitForURL('**/deliveries');
    await untilShown(page);
    await waitForFocus(page, apply);
    expect(await page.getByLabel('About').inputValue()).toBe('');
  });

  it('returns from a dialog to the button that opened it', async () => {
    await using window = await stage.enter(`/webhooks/${id}`);
    const { page } = window;
    const dialog = page.getByRole('dialog');
    const open = async (name: string) => {
      const button = page.getByRole('button', { name, exact: true });
      await press(page, button);
      await dialog.waitFor();
      return button;
    };
    for (const name of ['Rotate secret', 'Pause', 'Disable', 'Delete']) {
      const button = await open(name);
      await press(page, dialog.getByRole('button', { name: 'Back' }));
      await dialog.waitFor({ state: 'detached' });
      await waitForFocus(page, button);
    }
  });

  it('moves to the panel or the heading when its button leaves the page', async () => {
    await using window = await stage.enter(`/webhooks/${id}`);
    const { page } = window;
    await press(page, page.getByRole('button', { name: 'Edit' }));
    await press(page, page.getByRole('button', { name: 'Save' }));
    await waitForFocus(page, page.getByRole('region', { name: 'Settings' }));
    await press(page, page.getByRole('button', { name: 'Pause' }));
    await press(page, page.getByRole('dialog').getByRole('button', { name: 'Pause' }));
    await page.getByText('Paused until').waitFor();
    await waitForFocus(page, page.getByRole('heading', { level: 1 }));
    await press(page, page.getByRole('button', { name: 'Resume' }));
    await page.getByText('Paused until').waitFor({ state: 'detached' });
    await waitForFocus(page, page.getByRole('heading', { level: 1 }));
  });

  it('a limit of an action counts down, and leaves the action to the person', async () => {
    await using window = await stage.enter(`/webhooks/${id}`, {}, phone);
    const { page } = window;
    await page.clock.install();
    await show(page, page.url());
    await refuse(page, '**/test', 429, 'rate_limited');
    const send = page.getByRole('button', { name: 'Send test' });
    await send.click();
    await page.getByText(/Try again in \d+ s/).waitFor();
    await expectGood(page);
    await page.unroute('**/test');
    await page.clock.runFor(31_000);
    await page.getByText('Now you can try again.').waitFor();
    expect(window.requested.filter((address) => address.endsWith('/test'))).toHaveLength(1);
    await send.click();
    await page.getByText('The test arrived.').waitFor();
  });
});
