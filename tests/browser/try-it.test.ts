import { startUpstream, type Upstream } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import type { TestWindow } from './browser.ts';
import { type BrowserStage, openBrowserStage } from './stage.ts';

jest.setTimeout(180_000);

const hostile = `</code></pre><script>hacked = 1</script><img src=x onerror="hacked = 1">`;

/** A service behind the API: its pages attack, and one of them never ends. */
const answers: Record<string, string> = {
  '/v1/consultations/page': `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${hostile.length}\r\n\r\n${hostile}`,
  '/v1/consultations/endless':
    'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\nd\r\ndata: first\n\n\r\n',
  '/v1/consultations/elsewhere':
    'HTTP/1.1 302 Found\r\nLocation: https://elsewhere.example/\r\nContent-Length: 0\r\n\r\n',
};

let stage: BrowserStage;
let upstream: Upstream;
beforeAll(async () => {
  upstream = await startUpstream({
    answer: ({ path }) => answers[path] ?? 'HTTP/1.1 204 No Content\r\n\r\n',
  });
  stage = await openBrowserStage({ API_UPSTREAMS: `consultations=${upstream.url}` });
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  await upstream.close();
});

const formOf = (page: Page, operation: string) => page.getByRole('form', { name: `Try ${operation}`, exact: true });
const statusOf = (form: Locator) => form.getByRole('status');
const bodyOf = (form: Locator) => form.locator('[data-answer-body]');

function openOperations(window: TestWindow, path = '/docs/operations'): Promise<Page> {
  return window.read(stage.url + path);
}

describe('trying an operation', () => {
  it('shows the answer, the id of its request, and what is left of the rate limit', async () => {
    await using window = await stage.browser.open();
    const form = formOf(await openOperations(window), 'getMe');
    await form.getByLabel('API key').fill(stage.customer.key);
    await form.getByRole('button', { name: 'Send GET' }).click();
    await statusOf(form).getByText('200 OK').waitFor();
    expect(await statusOf(form).textContent()).toMatch(/Request id: req_\w{26}/);
    expect(await statusOf(form).textContent()).toMatch(/Rate limit: \d+ of 6000 requests left until/);
    expect(JSON.parse((await bodyOf(form).textContent()) ?? '')).toMatchObject({ object: 'me' });
    expect(window.complaints).toEqual([]);
  });

  it('sends parameters and body, and takes the key that another form was given', async () => {
    await using window = await stage.browser.open();
    const page = await openOperations(window);
    await formOf(page, 'getMe').getByLabel('API key').fill(stage.customer.key);
    const create = formOf(page, 'createWebhook');
    await create.getByLabel('Body').fill('{"url":"https://example.com/hook","events":["batch.*"]}');
    await create.getByRole('button', { name: 'Send POST' }).click();
    await statusOf(create).getByText('201 Created').waitFor();
    const { id } = JSON.parse((await bodyOf(create).textContent()) ?? '');
    const list = formOf(page, 'listWebhooks');
    await list.getByLabel('limit').fill('1');
    await list.getByLabel('enabled').selectOption('true');
    await list.getByRole('button', { name: 'Send GET' }).click();
    await bodyOf(list).getByText(id).waitFor();
    const remove = formOf(page, 'deleteWebhook');
    await remove.getByLabel('id').fill(id);
    await remove.getByRole('button', { name: 'Send DELETE' }).click();
    await statusOf(remove).getByText('204').waitFor();
    expect(await bodyOf(remove).isVisible()).toBe(false);
  });

  it('shows a refusal like any answer, and says when there is none', async () => {
    await using window = await stage.browser.open();
    const form = formOf(await openOperations(window), 'getMe');
    await form.getByLabel('API key').fill('nwk_wrong');
    const send = form.getByRole('button', { name: 'Send GET' });
    await send.click();
    await statusOf(form).getByText('401 Unauthorized').waitFor();
    await bodyOf(form).getByText('"unauthorized"').waitFor();
    await window.page.context().setOffline(true);
    await send.click();
    await statusOf(form).getByText('No answer').waitFor();
  });

  it('follows the stream of events, until it is stopped', async () => {
    await using window = await stage.browser.open();
    const form = formOf(await openOperations(window), 'streamEvents');
    await form.getByLabel('API key').fill(stage.customer.key);
    await form.getByRole('button', { name: 'Send GET' }).click();
    await statusOf(form).getByText('200 OK').waitFor();
    await bodyOf(form).getByText('event: session').waitFor();
    await form.getByRole('button', { name: 'Stop' }).click();
    await statusOf(form).getByText('Stopped.').waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('refuses a parameter that the browser would turn into another path', async () => {
    await using window = await stage.browser.open();
    const form = formOf(await openOperations(window), 'deleteWebhook');
    await form.getByLabel('API key').fill(stage.customer.key);
    await form.getByLabel('id').fill('..');
    await form.getByRole('button', { name: 'Send DELETE' }).click();
    await statusOf(form).getByText('is no part of a path').waitFor();
    expect(window.requested.filter((address) => new URL(address).pathname.startsWith('/v1'))).toEqual([]);
  });
});

describe('trying an area', () => {
  async function ask(page: Page, below: string): Promise<Locator> {
    const form = formOf(page, 'area-consultations');
    await form.getByLabel('API key').fill(stage.customer.key);
    await form.getByLabel('Path and query').fill(below);
    await form.getByRole('button', { name: 'Send' }).click();
    return form;
  }

  it('shows a hostile answer as text, and runs none of it', async () => {
    await using window = await stage.browser.open();
    const page = await openOperations(window, '/docs/areas');
    const form = await ask(page, '/page');
    await bodyOf(form).getByText('hacked').waitFor();
    expect(await bodyOf(form).textContent()).toBe(hostile);
    expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
    expect(window.complaints).toEqual([]);
  });

  it('shows a stream as it comes, until it is stopped', async () => {
    await using window = await stage.browser.open();
    const form = await ask(await openOperations(window, '/docs/areas'), '/endless');
    await bodyOf(form).getByText('data: first').waitFor();
    await form.getByRole('button', { name: 'Stop' }).click();
    await statusOf(form).getByText('Stopped.').waitFor();
  });

  it.each(['//elsewhere.example/x', '@elsewhere.example', '/a?b=https://elsewhere.example'])(
    'asks this origin alone, below the path of the area: %s',
    async (below) => {
      await using window = await stage.browser.open();
      const form = await ask(await openOperations(window, '/docs/areas'), below);
      await statusOf(form).getByText('Request id').waitFor();
      const asked = window.requested.map((address) => new URL(address));
      expect(asked.filter(({ origin }) => origin !== stage.url)).toEqual([]);
      expect(asked.filter(({ pathname }) => pathname.startsWith('/v1/consultations/'))).toHaveLength(1);
    },
  );

  it('follows no redirect, which could take the key elsewhere', async () => {
    await using window = await stage.browser.open();
    const form = await ask(await openOperations(window, '/docs/areas'), '/elsewhere');
    await statusOf(form).getByText('No answer').waitFor();
    expect(window.requested.filter((address) => new URL(address).origin !== stage.url)).toEqual([]);
  });
});

describe('the key', () => {
  it('is in no storage, in no address and in no form that could be sent, and is gone with the page', async () => {
    await using window = await stage.browser.open();
    const page = await openOperations(window);
    const form = formOf(page, 'getMe');
    await form.getByLabel('API key').fill(stage.customer.key);
    await form.getByRole('button', { name: 'Send GET' }).click();
    await statusOf(form).getByText('200 OK').waitFor();
    expect(await page.context().storageState({ indexedDB: true })).toEqual({ cookies: [], origins: [] });
    const kept = await page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href, name])',
    );
    expect(kept).not.toContain(stage.customer.key);
    // An entry that is called like a method of the storage, such as `key`, is not among the properties above.
    expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
    expect(await page.evaluate('caches.keys()')).toEqual([]);
    expect(await page.locator('form [name]').count()).toBe(0);
    expect(window.requested.join('\n')).not.toContain(stage.customer.key);
    await page.goto(`${stage.url}/docs/areas`);
    await page.goBack();
    expect(await formOf(page, 'getMe').getByLabel('API key').inputValue()).toBe('');
  });

  it('is sent to this API alone, and cannot be read over a shoulder', async () => {
    await using window = await stage.browser.open();
    const carriers: string[] = [];
    window.page.on('request', (request) => {
      if (JSON.stringify(request.headers()).includes(stage.customer.key)) carriers.push(new URL(request.url()).href);
    });
    const form = formOf(await openOperations(window), 'getMe');
    const field = form.getByLabel('API key');
    await field.fill(stage.customer.key);
    await form.getByRole('button', { name: 'Send GET' }).click();
    await statusOf(form).getByText('200 OK').waitFor();
    expect(carriers).toEqual([`${stage.url}/v1/me`]);
    const shownAs = 'getComputedStyle(document.querySelector("#getMe-key")).getPropertyValue("-webkit-text-security")';
    expect(await window.page.evaluate(shownAs)).toBe('disc');
    expect(await field.getAttribute('autocomplete')).toBe('off');
  });
});
