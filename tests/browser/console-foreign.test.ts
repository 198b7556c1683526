import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page, Response } from 'playwright-core';
import { type ConsoleStage, openConsoleStage, show } from './console-stage.ts';

jest.setTimeout(300_000);

let stage: ConsoleStage;
let webhookId: string;
/** The console's API for the organization. */
let home: string;
/** Serves an empty page, whose scripts may do anything. */
const foreign = createServer((_request, response) => response.setHeader('Content-Type', 'text/html').end('<p>Foreign'));
beforeAll(async () => {
  await once(foreign.listen(0, '127.0.0.1'), 'listening');
  stage = await openConsoleStage(undefined);
  home = `${stage.origin}/console/api/${stage.customer.organizationId}`;
  webhookId = (await stage.customer.createWebhook(stage.receiver.url('/hook'))).id;
});
afterAll(async () => {
  await stage[Symbol.asyncDispose]();
  foreign.close();
});

const foreignPage = (host: string) => `http://${host}:${(foreign.address() as AddressInfo).port}/`;

/** All that a request of the console could have changed. */
async function state(): Promise<string[]> {
  const { customer } = stage;
  const organization = `/internal/v1/organizations/${customer.organizationId}`;
  const answers = await Promise.all([
    customer.call('GET', '/v1/webhooks?limit=100'),
    customer.call('GET', '/v1/webhooks/deliveries?limit=100'),
    customer.internal('GET', `${organization}/console-sessions?limit=100`),
    customer.internal('GET', `/internal/v1/audit?organization_id=${customer.organizationId}&limit=100`),
  ]);
  return answers.map(({ text }) => text);
}

/** The answers that the console's API gives to a page. */
function answersTo(page: Page): Response[] {
  const answers: Response[] = [];
  page.on('response', (answer) => {
    if (answer.url().startsWith(`${stage.origin}/console/api/`)) answers.push(answer);
  });
  return answers;
}

/** Submits a form as `text/plain`, whose only field makes a JSON body. */
async function submit(page: Page, action: string, body: string): Promise<void> {
  const [name, value] = body.split('=') as [string, string?];
  const answered = page.waitForResponse(action);
  await page.evaluate(`{
    const form = Object.assign(document.createElement('form'), {
      method: 'post', enctype: 'text/plain', action: ${JSON.stringify(action)} });
    form.append(Object.assign(document.createElement('input'), ${JSON.stringify({ name, value: value ?? '' })}));
    document.body.append(form);
    form.submit();
  }`);
  await (await answered).finished();
}

const sites = [
  // Cookies do not tell ports apart: the browser sends the session's cookie along.
  ['of the same site', '127.0.0.1', true],
  ['of another site', 'localhost', false],
] as const;

it.each(sites)('a page %s changes, reads and shows nothing of a session', async (_site, host, knows) => {
  await using window = await stage.enter('/webhooks');
  const { page, complaints } = window;
  const token = (await stage.link({ label: 'Mallory' })).split('#')[1];
  const before = await state();
  // The console's own page may still ask.
  await page.goto(foreignPage(host));
  const answers = answersTo(page);

  const forms: [path: string, body: string][] = [
    ['/v1/webhooks', `{"url":"${stage.receiver.url('/mine')}","events":["*"],"description":"="}`],
    ['/keys', '{"name":"=","scopes":["*"]}'],
    [`/v1/webhooks/${webhookId}/rotate-secret`, ''],
    [`/v1/webhooks/${webhookId}/test`, ''],
    [`/v1/webhooks/${webhookId}?_method=DELETE`, '_method=DELETE'],
    ['/session?_method=DELETE', '_method=DELETE'],
    ['/../enter', `{"token":"${token}"}`],
  ];
  for (const [path, body] of forms) {
    await page.goto(foreignPage(host));
    await submit(page, new URL(home + path).href, body);
  }
  await page.goto(foreignPage(host));
  await page.evaluate(`location = '${home}/v1/webhooks'`);
  await page.waitForURL(`${home}/v1/webhooks`);

  await page.goto(foreignPage(host));
  const image = `new Promise((done) => {
    const image = new Image();
    image.onload = image.onerror = ({ type }) => done(type);
    image.src = '${home}/v1/webhooks';
    document.body.append(image);
  })`;
  expect(await page.evaluate(image)).toBe('error');

  const known = { 'X-Console': '1' };
  const json = { ...known, 'Content-Type': 'application/json' };
  const body = `{"url":"${stage.receiver.url('/mine')}","events":["*"]}`;
  const rotation = `/v1/webhooks/${webhookId}/rotate-secret`;
  const fetches: [path: string, options: object][] = [
    ['/v1/webhooks', {}],
    ['/v1/webhooks', { headers: known }],
    ['/v1/webhooks', { mode: 'no-cors' }],
    ['/v1/webhooks', { method: 'POST', body }],
    ['/v1/webhooks', { method: 'POST', body, headers: known }],
    ['/v1/webhooks', { method: 'POST', body, headers: json }],
    ['/v1/webhooks', { method: 'POST', body, headers: json, mode: 'no-cors' }],
    [rotation, { method: 'POST' }],
    [rotation, { method: 'POST', headers: known }],
    [`/v1/webhooks/${webhookId}`, { method: 'DELETE', headers: known }],
    ['/session', { method: 'DELETE' }],
  ];
  const read = await page.evaluate(`Promise.all(${JSON.stringify(fetches)}.map(([path, options]) =>
    fetch('${home}' + path, { credentials: 'include', ...options }).then(
      async (answer) => [answer.type, answer.status, await answer.text()],
      ({ name }) => [name])))`);
  expect(read).toEqual(fetches.map(() => ['TypeError']));

  // The browser gives the answers to images and scripts to nobody.
  expect(answers.map((answer) => answer.status())).toEqual(Array(forms.length + 1).fill(403));
  const cookies = await Promise.all(answers.map(async (answer) => (await answer.request().allHeaders()).cookie));
  expect(cookies.map((cookie) => cookie !== undefined)).toEqual(cookies.map(() => knows));

  answers.length = 0;
  const frame = `new Promise((done) => {
    const frame = document.createElement('iframe');
    frame.onload = done;
    frame.src = '${stage.origin}/console/${stage.customer.organizationId}/webhooks';
    document.body.append(frame);
  }).then(() => undefined)`;
  await page.evaluate(frame);
  const refusals = () => complaints.filter((text) => text.includes("frame-ancestors 'none'")).length;
  await until('the browser to refuse the frame', refusals, { holds: (count) => count === 1 });
  const shown = () => page.frames().map((each) => each.url());
  await until('an empty frame', shown, { holds: ([, inside]) => inside === 'chrome-error://chromewebdata/' });
  expect(answers).toEqual([]);

  expect(await state()).toEqual(before);
  await show(page, `${stage.origin}/console/${stage.customer.organizationId}/webhooks`);
  expect(await page.getByRole('row').count()).toBe(2);
});

it.each(['made up', "of the planter's own session"])(
  'a cookie that another page planted, %s, opens nothing after a person entered',
  async (kind) => {
    const name = `console-${stage.customer.organizationId}`;
    const cookieOf = async (page: Page) => {
      const cookies = await page.context().cookies(stage.origin);
      return cookies.filter((cookie) => cookie.name === name);
    };
    const statusWith = async (value: string) => {
      const headers = { 'X-Console': '1', Cookie: `${name}=${value}` };
      return (await fetch(`${home}/session`, { headers })).status;
    };
    await using planter = await stage.enter('', { label: 'Mallory' });
    const [own] = await cookieOf(planter.page);
    const planted = kind === 'made up' ? 'f'.repeat(43) : (own?.value ?? '');
    await using window = await stage.browser.open();
    const { page } = window;
    await page.goto(foreignPage('127.0.0.1'));
    await page.evaluate(`document.cookie = '${name}=${planted}; path=/'`);
    expect((await cookieOf(page)).map(({ value }) => value)).toEqual([planted]);
    await page.goto(await stage.link({ label: 'Ada' }));
    await page.getByRole('button', { name: 'Open console' }).click();
    await page.locator('.who').waitFor({ state: 'attached' });
    const entered = await cookieOf(page);
    expect(entered).toMatchObject([{ httpOnly: true, sameSite: 'Strict' }]);
    expect(entered[0]?.value).not.toBe(planted);
    expect(await statusWith(entered[0]?.value ?? '')).toBe(200);
    expect(await statusWith(planted)).toBe(401);
    await page.goto(foreignPage('127.0.0.1'));
    expect(await page.evaluate('document.cookie')).toBe('');
  },
);
