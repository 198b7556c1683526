import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { projectFolder, until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { expectGood, loadAxe } from './accessibility.ts';
import { desktop, phone } from './browser.ts';
import { type ConsoleStage, openConsoleStage, show, untilShown } from './console-stage.ts';

jest.setTimeout(600_000);

const devices = [
  ['a desktop', desktop],
  // A desktop at 400 % shows as much.
  ['a phone', phone],
] as const;

let stage: ConsoleStage;
let pages: string[];
let broken: string;
let failedId: string;
let erasedId: string;
let erasedEventId: string;
beforeAll(async () => {
  stage = await openConsoleStage(({ path }) =>
    path === '/broken'
      ? { status: 503, headers: { server: 'x'.repeat(1_500), 'retry-after': '0' }, body: 'down for maintenance' }
      : { body: '{"ok":true}' },
  );
  const { customer, receiver } = stage;
  await customer.createWebhook(receiver.url('/works'), { description: 'Works' });
  broken = (await customer.createWebhook(receiver.url('/broken'), { events: ['batch.*'] })).id;
  await customer.createWebhook(receiver.url('/off'), { enabled: false });
  await customer.createKey(customer.organizationId, { name: 'CI', scopes: ['me:read'], expires_at: soon() });
  const events = [1, 2, 3, 4].map((number) => ({
    organization_id: customer.organizationId,
    type: 'batch.failed' as const,
    data: { batch_id: `batch_${number}`, reason: 'a long reason '.repeat(20) },
  }));
  await customer.emit(events);
  const over = (rows: { status: string }[]) =>
    rows.filter(({ status }) => status === 'failed').length === 4 && rows.every(({ status }) => status !== 'pending');
  const rows = await until('the deliveries', () => customer.deliveries(), { holds: over, withinMs: 180_000 });
  // Rows of one time have any order, and a search below looks for the first event.
  const failedOf = (batch: string) => rows.find(({ status, subject }) => status === 'failed' && subject === batch);
  const [failed, erased] = [failedOf('batch_1'), failedOf('batch_2')];
  failedId = failed?.id ?? '';
  erasedId = erased?.id ?? '';
  erasedEventId = erased?.event_id ?? '';
  const replay = async (options: object) => {
    const body = { since: '2026-01-01T00:00:00Z', ...options };
    const { text } = await customer.call('POST', `/v1/webhooks/${broken}/replay`, body);
    return (JSON.parse(text) as { id: string }).id;
  };
  const canceledId = await replay({ rate_per_second: 1 });
  await customer.call('POST', `/v1/webhooks/replays/${canceledId}/cancel`);
  const replayId = await replay({});
  // An attempt without effect has the number of the one that counts.
  const counted = await attemptOf(failedId);
  const withoutEffect = { id: newUuid(), superseded: true, response_headers: JSON.stringify(counted.response_headers) };
  await stage.db
    .insertInto('attempts')
    .values({ ...counted, ...withoutEffect })
    .execute();
  pages = [
    '',
    '?range=1h',
    '/webhooks',
    '/webhooks/new',
    `/webhooks/${broken}`,
    `/webhooks/${broken}/replay`,
    `/webhooks/${broken}/replay?status=failed&status=pending`,
    `/webhooks/${broken}/replay?replay=${replayId}`,
    `/webhooks/${broken}/replay?replay=${canceledId}`,
    '/deliveries?status=failed',
    '/deliveries?last_status_code=503&last_error=http_error&last_error=timeout',
    `/deliveries/${failedId}`,
    `/deliveries/${rows.find(({ status }) => status === 'succeeded')?.id}`,
    '/events',
    '/events?q=batch_1',
    `/events/${failed?.event_id}`,
    '/signatures',
    '/event-types',
    '/keys',
    '/usage',
    '/usage?by=area',
    '/live',
    '/nothing-here',
  ];
});
afterAll(async () => stage[Symbol.asyncDispose]());

const attemptOf = (deliveryId: string) =>
  stage.db
    .selectFrom('attempts')
    .selectAll()
    .where('delivery_id', '=', fromPublicId('dlv', deliveryId) as string)
    .executeTakeFirstOrThrow();

/** The ids of the deliveries that a list shows. */
const idsOn = async (page: Page) => {
  const links = await page.evaluate<string[]>(
    `[...document.querySelectorAll('td a[href*="/deliveries/"]')].map(String)`,
  );
  return links.map((address) => address.split('/').at(-1));
};

/** What a shell prints that runs a line of a view. */
const paste = async (line: string, environment: Record<string, string> = {}) => {
  const { customer, origin } = stage;
  const access = { ENTERPRISE_API_URL: origin, ENTERPRISE_API_KEY: customer.key, API_KEY: customer.key };
  const cli = join(projectFolder, 'packages/cli/bin/enterprise-api.js');
  const program = `enterprise-api() { '${process.execPath}' '${cli}' "$@"; }; ${line}`;
  const env = { ...process.env, ...access, ...environment };
  return (await promisify(execFile)('bash', ['-c', program], { env })).stdout;
};

const soon = () => new Date(Date.now() + 3 * 86_400_000).toISOString();

describe.each(devices)('on %s', (_device, options) => {
  it('every page with data breaks no rule of accessibility and does not scroll sideways', async () => {
    await using window = await stage.enter('', {}, options);
    const { page, complaints, requested } = window;
    for (const path of pages) {
      await show(page, `${stage.origin}/console/${stage.customer.organizationId}${path}`);
      await expectGood(page);
    }
    expect(complaints).toEqual([]);
    expect(requested.filter((address) => new URL(address).origin !== stage.origin)).toEqual([]);
  });

  it('so do the dialogs, the open menu and the tables of the plots', async () => {
    await using window = await stage.enter(`/webhooks/${broken}`, {}, options);
    const { page } = window;
    for (const name of ['Rotate secret', 'Disable', 'Delete']) {
      await page.getByRole('button', { name }).first().click();
      await page.getByRole('dialog').waitFor();
      await expectGood(page);
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'detached' });
    }
    await page.getByText('Show as table').first().click();
    await expectGood(page);
    await show(page, `${stage.origin}/console/${stage.customer.organizationId}/keys`);
    await page.getByRole('button', { name: 'Create key' }).click();
    await expectGood(page);
    await page.keyboard.press('Escape');
    const menu = page.getByRole('button', { name: 'Menu' });
    if (await menu.isVisible()) await menu.click();
    await expectGood(page);
  });
});

describe('with motion', () => {
  it('every page with data is as good', async () => {
    await using window = await stage.enter('', {}, { ...desktop, reducedMotion: 'no-preference' });
    const { page } = window;
    for (const path of pages.filter((each) => !each.includes('?'))) {
      await show(page, `${stage.origin}/console/${stage.customer.organizationId}${path}`);
      await expectGood(page, 'no-preference');
    }
  });

  it('so are a page that is loading, and one that is being read again', async () => {
    await using window = await stage.enter('/webhooks', {}, { ...desktop, reducedMotion: 'no-preference' });
    const { page } = window;
    const expectGoodOnceStill = async (selector: string) => {
      await page.locator(selector).first().waitFor();
      const states = () => page.evaluate<string[]>('document.getAnimations().map(({ playState }) => playState)');
      await until('everything to stand still', states, { holds: (found) => !found.includes('running') });
      await expectGood(page, 'no-preference');
    };
    await page.route('**/v1/webhooks/health*', () => undefined);
    await page.getByRole('link', { name: 'Overview' }).click();
    await expectGoodOnceStill('main .loading');
    await page.unrouteAll();
    await page.reload();
    await page.locator('.headline').waitFor();
    await page.route('**/v1/webhooks/health*', () => undefined);
    await expectGoodOnceStill('main > .stale');
  });
});

describe('a state', () => {
  const problem = (status: number, code: string, fields = {}) => ({
    status,
    json: { error: { type: 'api_error', code, message: 'Something.', request_id: 'req_0123', ...fields } },
  });

  it.each([
    ['an error names its code and its request', problem(500, 'internal_error'), 'req_0123'],
    ['a rate limit counts down', problem(429, 'rate_limited', { retry_after: 30 }), 'The page asks again in'],
    [
      'a missing scope is named',
      problem(403, 'forbidden_scope', { required_scope: 'webhooks:read' }),
      'lacks the scope',
    ],
    ['hidden bodies are said to be hidden', problem(403, 'bodies_hidden'), 'hides the contents'],
  ])('%s, and the other panels stay', async (_title, answer, words) => {
    await using window = await stage.enter('', {}, phone);
    const { page } = window;
    await page.route('**/v1/webhooks/statistics*', (route) => route.fulfill(answer));
    await page.reload();
    await page.getByText(words).first().waitFor();
    await page.locator('.headline').waitFor();
    await expectGood(page);
  });

  it('a rate limit is waited out, as often as it takes', async () => {
    await using window = await stage.enter('');
    const { page } = window;
    let refusals = 0;
    await page.route('**/v1/webhooks/statistics*', (route) => {
      refusals += 1;
      return refusals <= 2 ? route.fulfill(problem(429, 'rate_limited', { retry_after: 1 })) : route.continue();
    });
    await page.reload();
    await page.getByText('The page asks again in').waitFor();
    await page.getByText('Show as table').first().waitFor();
    expect(refusals).toBe(3);
  });

  it('the list of webhooks does not make up their health, and asks for it once the limit allows', async () => {
    await using window = await stage.enter('/live');
    const { page } = window;
    await page.clock.install();
    let asked = 0;
    await page.route('**/v1/webhooks/health*', (route) => {
      asked += 1;
      return asked > 1 ? route.continue() : route.fulfill(problem(429, 'rate_limited', { retry_after: 30 }));
    });
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByText('The page asks again in').waitFor();
    await page.getByText('req_0123').waitFor();
    expect(await page.getByRole('table').innerText()).not.toMatch(/Idle|Disabled|never/);
    await page.clock.runFor(20_000);
    expect(asked).toBe(1);
    await page.clock.runFor(10_000);
    await page.getByText('Disabled').waitFor();
    expect(asked).toBe(2);
  });

  it('a request without a countdown on the page also waits as long as a limit asks', async () => {
    await using window = await stage.enter('/live');
    const { page } = window;
    await page.clock.install();
    await page.reload();
    await untilShown(page);
    let asked = 0;
    await page.route('**/console/api/*/session', (route) => {
      asked += 1;
      return route.fulfill(problem(429, 'rate_limited', { retry_after: 300 }));
    });
    const refusal = page.waitForResponse('**/session');
    await page.clock.runFor(61_000);
    await refusal;
    await untilShown(page);
    await page.clock.runFor(200_000);
    expect(asked).toBe(1);
  });

  it('a request without an answer can be tried again', async () => {
    await using window = await stage.enter('/events');
    const { page } = window;
    await page.route('**/v1/events*', (route) => route.abort());
    await page.reload();
    await page.getByText('There was no answer.').waitFor();
    await expectGood(page);
    await page.unroute('**/v1/events*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('row').nth(4).waitFor();
    expect(await page.getByText('There was no answer.').count()).toBe(0);
  });

  it('a session that only reads has no button that changes something, and says why', async () => {
    await using window = await stage.enter(`/webhooks/${broken}`, { scopes: ['me:read', 'webhooks:read'] });
    const { page } = window;
    await page.getByText('Read-only').first().waitFor();
    for (const name of ['Rotate secret', 'Disable', 'Delete', 'Send test', 'Edit'])
      expect(await page.getByRole('button', { name }).count()).toBe(0);
    expect(await page.getByRole('link', { name: /API keys|Usage|Send all again/ }).count()).toBe(0);
    await expectGood(page);
    await page.getByRole('link', { name: 'Event types' }).click();
    await page.getByText('Read-only').waitFor();
  });

  it('no webhook is the reason why an example cannot be sent', async () => {
    await using window = await stage.enter('');
    const { page } = window;
    const nothing = { data: [], has_more: false, next_cursor: null };
    await page.route('**/v1/webhooks?limit=100', (route) => route.fulfill({ json: nothing }));
    await page.getByRole('link', { name: 'Event types' }).click();
    await page.getByText('No webhook yet.').waitFor();
    await expectGood(page);
  });

  it('the plan Starter reads, and says why it does not write', async () => {
    const { customer } = stage;
    const setPlan = (plan: string) =>
      customer.internal('PATCH', `/internal/v1/organizations/${customer.organizationId}`, { plan });
    await setPlan('starter');
    await using window = await stage.enter('/webhooks');
    const { page } = window;
    await page.getByText('the plan Starter').first().waitFor();
    await expectGood(page);
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Revoke' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Rotate' }).count()).toBe(0);
    await setPlan('enterprise');
  });

  it('a session with every scope of keys of the API sees the usage, but not the keys', async () => {
    await using window = await stage.enter('', { scopes: ['*'] });
    await window.page.getByRole('link', { name: 'Usage' }).waitFor();
    expect(await window.page.getByRole('link', { name: 'API keys' }).count()).toBe(0);
  });

  it('a link that was used again is shown on every page', async () => {
    const link = await stage.link();
    await using window = await stage.browser.open();
    const { page } = window;
    await loadAxe(page);
    await page.goto(link);
    await page.getByRole('button', { name: 'Open console' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await using second = await stage.browser.open();
    await second.page.goto(link);
    await second.page.getByRole('button', { name: 'Open console' }).click();
    await second.page.getByText('This link does not work').waitFor();
    await page.reload();
    await page.getByText('tried to use the link').waitFor();
    await expectGood(page);
  });

  it('no session leads to the page that mints links', async () => {
    await using window = await stage.browser.open();
    await window.page.goto(`${stage.origin}/console/${stage.customer.organizationId}/events`);
    await window.page.getByRole('link', { name: 'Sign in again' }).waitFor();
  });

  it('a part of an older version that is gone loads the page anew, once', async () => {
    await using window = await stage.enter('/webhooks');
    const { page } = window;
    await page.route('**/assets/uPlot*', (route) => route.fulfill({ status: 404 }));
    let loads = 0;
    page.on('load', () => {
      loads += 1;
    });
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByText('could not be loaded').first().waitFor();
    expect(loads).toBe(1);
  });

  it('a page whose file stays gone says so, and can be tried again', async () => {
    await using window = await stage.enter('/webhooks');
    const { page } = window;
    await page.route('**/assets/usage*', (route) => route.fulfill({ status: 404 }));
    await page.getByRole('link', { name: 'Usage' }).click();
    await page.getByRole('button', { name: 'Try again' }).waitFor();
    await expectGood(page);
    await page.unroute('**/assets/usage*');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Usage' }).waitFor();
  });

  it.each(['console', 'style'])(
    'a first file of an older version that is gone loads the page anew, once: %s',
    async (name) => {
      await using window = await stage.enter('/webhooks');
      const { page } = window;
      let asked = 0;
      let isGone = false;
      await page.route(`**/assets/${name}-*`, (route) => {
        asked += 1;
        return isGone || asked === 1 ? route.fulfill({ status: 404 }) : route.continue();
      });
      await page.reload({ waitUntil: 'commit' });
      await page.getByRole('heading', { name: 'Webhooks' }).waitFor();
      expect(asked).toBe(2);
      isGone = true;
      const live = `${stage.origin}/console/${stage.customer.organizationId}/live`;
      await page.goto(live, { waitUntil: 'commit' });
      await until('another load', () => asked, { holds: (count) => count >= 4 });
      await page.waitForLoadState();
      expect(asked).toBe(4);
    },
  );

  it('data that is absent says why', async () => {
    const scopes = ['me:read', 'webhooks:read'];
    await using window = await stage.enter('/events', { show_bodies: false, scopes });
    const { page } = window;
    await page.locator('td a').first().click();
    await untilShown(page);
    await page.getByText('This session hides the data of events.').waitFor();
  });

  it('an address or a header that is absent says why', async () => {
    const { customer, db } = stage;
    const sent = await attemptOf(failedId);
    const nothing = { superseded: true, remote_address: null, response_headers: null };
    const attempts = [
      { error: 'destination_blocked', status_code: null, connect_ms: null },
      { error: 'connection_refused', status_code: null, connect_ms: null },
      { error: 'http_error', status_code: 500 },
      { error: null, status_code: 200 },
    ].map((values, nth) => ({ ...sent, ...nothing, ...values, id: newUuid(), number: 21 + nth }));
    await db.insertInto('attempts').values(attempts).execute();
    await using window = await stage.enter(`/deliveries/${failedId}`, {}, phone);
    const { page } = window;
    const reasonOf = async ({ number }: { number: number }) => {
      const attempt = page.getByRole('listitem').filter({ hasText: `Attempt ${number}` });
      return (await attempt.locator('.hint').allTextContents()).at(-1);
    };
    expect(await Promise.all(attempts.map(reasonOf))).toEqual([
      'The address is not allowed, so nothing was connected.',
      'No connection was made, so there is no address.',
      'The data is not available.',
      'Address and headers of the answer are kept for failed attempts.',
    ]);
    await expectGood(page);
    await customer.internal('POST', '/internal/v1/erasures', {
      organization_id: customer.organizationId,
      event_ids: [erasedEventId],
    });
    const events = () => customer.call('GET', `/v1/events/${erasedEventId}`);
    await until('the erasure', events, { holds: ({ text }) => !text.includes('"erased_at":null'), withinMs: 60_000 });
    await show(page, `${stage.origin}/console/${customer.organizationId}/deliveries/${erasedId}`);
    await page.getByText('The data was erased:').nth(1).waitFor();
    await expectGood(page);
    const reader = { show_bodies: false, scopes: ['me:read', 'webhooks:read'] };
    await using hidden = await stage.enter(`/deliveries/${failedId}`, reader, phone);
    const shown = await hidden.page.locator('main').innerText();
    expect(shown).toContain('This session hides the contents of events and answers.');
    expect(shown).not.toMatch(/Connected to|xxx/);
    await expectGood(hidden.page);
  });

  it.each(devices)('a link names the person it is for, on %s', async (_device, options) => {
    await using window = await stage.browser.open(options);
    const { page } = window;
    await loadAxe(page);
    await page.goto(await stage.link({ label: 'W'.repeat(100) }));
    await page.getByText('W'.repeat(100)).waitFor();
    await expectGood(page);
  });

  it('a link whose name cannot be read opens nevertheless', async () => {
    await using window = await stage.browser.open();
    const { page } = window;
    await page.route('**/console/api/enter', (route) =>
      route.request().postData()?.includes('look') ? route.abort() : route.continue(),
    );
    await page.goto(await stage.link());
    await page.getByRole('button', { name: 'Open console' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
  });

  it('filters of the last answer open the same list for a colleague, and so do ids', async () => {
    await using window = await stage.enter('/deliveries');
    const { page } = window;
    await page.getByText('More filters').click();
    await page.getByLabel('error status').check();
    await page.getByLabel('timeout').check();
    await page.getByLabel('Last status').fill('5xx');
    await page.keyboard.press('Enter');
    await page.waitForURL('**last_status_code=5xx&last_error=timeout&last_error=http_error');
    await page.getByText('Searched to the end.').waitFor();
    await using other = await stage.enter('', { scopes: ['me:read', 'webhooks:read'] });
    await show(other.page, page.url());
    const ids = await idsOn(page);
    expect(ids).toHaveLength(4);
    expect(await idsOn(other.page)).toEqual(ids);
    expect(await other.page.getByLabel('Last status').inputValue()).toBe('5xx');
    expect(await other.page.getByRole('checkbox', { checked: true }).count()).toBe(2);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByText('More filters').click();
    await page.getByLabel('Delivery ids').fill(` ${ids[2]},\t${ids[1]} `);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**id=${ids[2]}&id=${ids[1]}`);
    await page.locator('td a').nth(3).waitFor();
    await until('both', () => idsOn(page), { holds: (found) => found.length === 2 });
    await show(other.page, page.url());
    expect(await idsOn(other.page)).toEqual(ids.slice(1, 3));
  });

  it.each(['/usage?month=2026-13', '/deliveries?since=%2B275760-09-13T00:00:00Z', '?range=toString'])(
    'an address with a time that means nothing shows its page: %s',
    async (path) => {
      await using window = await stage.enter(path, {}, { ...desktop, timezoneId: 'Asia/Tokyo' });
      expect(window.complaints.filter((text) => text.includes('Error'))).toEqual([]);
    },
  );

  it('a field for a time names its zone, and is read in it', async () => {
    const { customer } = stage;
    await using window = await stage.enter('', {}, { ...desktop, timezoneId: 'Asia/Tokyo' });
    const { page } = window;
    const axis = page.locator('figcaption .offset').first();
    expect(await axis.textContent()).toBe('Time +09:00');
    await page.getByLabel('Show times in UTC').check();
    expect(await axis.textContent()).toBe('Time +00:00');
    await page.getByRole('link', { name: 'Deliveries', exact: true }).click();
    await page.getByLabel('From (UTC)').fill('2026-01-01T05:30');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**since=2026-01-01T05%3A30%3A00.000Z');
    await page.getByLabel('Show times in UTC').uncheck();
    expect(await page.getByLabel('From (Asia/Tokyo)').inputValue()).toBe('2026-01-01T14:30');
    await page.getByLabel('Show times in UTC').check();
    await page.getByRole('link', { name: 'API keys' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByLabel('Name').fill('Expiring');
    await page.getByLabel('me:read').check();
    const expiry = new Date(Math.ceil(Date.now() / 3_600_000 + 24) * 3_600_000).toISOString();
    await page.getByLabel('Expires (UTC)').fill(expiry.slice(0, 16));
    await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
    await page.getByText('It is shown only here.').waitFor();
    const keys = await customer.internal('GET', `/internal/v1/organizations/${customer.organizationId}/keys`);
    expect(keys.text).toContain(`"expires_at":"${expiry}"`);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
    await page.getByRole('link', { name: '/works' }).click();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByLabel('Until (UTC)').fill(expiry.slice(0, 16));
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused until').waitFor();
    expect((await customer.call('GET', '/v1/webhooks')).text).toContain(`"resume_at":"${expiry}"`);
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByText('Paused until').waitFor({ state: 'detached' });
  });

  it('a list of keys has further pages', async () => {
    await using window = await stage.enter('');
    const { page } = window;
    await page.route('**/keys?limit=50*', (route) =>
      route.continue({ url: route.request().url().replace('limit=50', 'limit=1') }),
    );
    await page.getByRole('link', { name: 'API keys' }).click();
    const name = page.locator('tbody tr');
    await name.first().waitFor();
    const first = await name.innerText();
    await page.getByRole('button', { name: 'Next' }).click();
    await until('another key', () => name.innerText(), { holds: (text) => text !== first });
    await page.getByRole('button', { name: 'Previous' }).click();
    await until('the first key', () => name.innerText(), { holds: (text) => text === first });
  });

  it('every view shows its request; each line that it shows works as pasted', async () => {
    const { customer, origin } = stage;
    await using window = await stage.enter('');
    const { page } = window;
    const [cookie] = await page.context().cookies(origin);
    const tryLines = async () => {
      const shown = await page.locator('.request pre').allTextContents();
      const failed: string[] = [];
      for (const line of shown.flatMap((text) => text.split('\n'))) {
        const printed = await paste(line, { COOKIE: `${cookie?.name}=${cookie?.value}` });
        if (line.startsWith('curl') && 'error' in JSON.parse(printed)) failed.push(line, printed);
      }
      expect(failed).toEqual([]);
      return shown.join('\n');
    };
    const linesOf = async (path: string) => {
      await show(page, `${origin}/console/${customer.organizationId}${path}`);
      return await tryLines();
    };
    expect(await linesOf('?range=7d')).toMatch(/\/v1\/webhooks\/health\?[\s\S]*--since 7d --granularity hour/);
    expect(await linesOf('/usage?by=area')).toContain('--granularity month --by area');
    expect(await linesOf(`/webhooks/${broken}/replay?status=succeeded&event_type=batch.failed`)).toContain('"since":"');
    for (const path of ['/webhooks', '/usage', '/event-types', '/signatures', `/deliveries/${failedId}`])
      expect(await linesOf(path)).not.toBe('');
    await page.goto(`${origin}/console/${customer.organizationId}/signatures?webhook_id=${broken}`);
    await page.getByLabel('Headers').fill("webhook-id: it's\nx-service-signature: 00");
    await page.getByLabel('Body').fill('{"a":"\u0007$(exit 1) \'"}\n');
    await page.getByLabel('Your result').fill('00');
    await page.getByRole('button', { name: 'Check' }).click();
    await page.getByText('The signature is wrong.').first().waitFor();
    expect(await tryLines()).toContain('/verify-signature');
  });

  it('a list shows a request and a command that print the same rows, and no command that would print others', async () => {
    const { customer, origin } = stage;
    await using window = await stage.enter('');
    const { page } = window;
    const idsIn = (text: string) => [...new Set(text.match(/(?:dlv|evt)_[0-9a-z]{26}/g))];
    const shownAt = async (path: string) => {
      await show(page, `${origin}/console/${customer.organizationId}${path}`);
      return ((await page.locator('.request pre').last().textContent()) ?? '').split('\n');
    };
    for (const [path, option] of [
      ['/events?q=batch_1', 'batch_1'],
      ['/deliveries?last_status_code=503&last_error=timeout&last_error=http_error', '--last-error timeout,http_error'],
    ] as const) {
      // On a slow machine, the second of a search may end before its first row.
      const read = async () => [await shownAt(path), await page.locator('table').count()] as const;
      const [lines] = await until(`the rows of ${path}`, read, { holds: ([, tables]) => tables > 0, withinMs: 60_000 });
      expect(lines).toHaveLength(2);
      const [first = '', ...others] = idsIn(await page.locator('table').innerHTML());
      const listed = [first, ...others].filter((id) => id.slice(0, 3) === first.slice(0, 3));
      expect(listed).toHaveLength(path.startsWith('/events') ? 1 : 4);
      expect(lines[1]).toContain(option);
      for (const line of lines) {
        const printed = idsIn(await paste(line)).filter((id) => id.slice(0, 3) === first.slice(0, 3));
        expect(printed).toEqual(listed);
      }
    }
    for (const path of ['/events?subject=batch_1', '/deliveries?subject=batch_1', `/deliveries?id=${failedId}`])
      expect(await shownAt(path)).toHaveLength(1);
  });

  it.each([
    ['keys', '/keys', '/keys?', 'key_prefix'],
    ['the history of a webhook', '/webhooks/{id}', '/audit?object_id=', 'action'],
  ])('%s shows its request, which prints the same rows for the session', async (_name, path, part, field) => {
    await using window = await stage.enter(path.replace('{id}', broken));
    const { page } = window;
    const panel = page.getByRole('region').filter({ has: page.locator('.request', { hasText: part }) });
    const line = (await panel.last().locator('.request pre').textContent()) ?? '';
    expect(await panel.last().locator('summary').textContent()).toContain(`GET /console/api/`);
    const [cookie] = await page.context().cookies(stage.origin);
    const printed = await paste(line, { COOKIE: `${cookie?.name}=${cookie?.value}` });
    const { data } = JSON.parse(printed) as { data: Record<string, string>[] };
    expect(data.length).toBeGreaterThan(0);
    const rows = await panel.last().getByRole('row').allInnerTexts();
    expect(rows).toHaveLength(data.length + 1);
    for (const [index, row] of data.entries()) expect(rows[index + 1]).toContain(row[field]);
  });

  it('plots mark the changes of webhooks, however much else has happened since', async () => {
    const { customer, db } = stage;
    const organization_id = fromPublicId('org', customer.organizationId) as string;
    const rows = Array.from({ length: 300 }, (_, nth) => ({
      id: newUuid(),
      actor: 'test',
      ...(nth % 2 === 0
        ? ({ action: 'webhook.tested', object_type: 'webhook', object_id: fromPublicId('whk', broken) } as const)
        : ({ action: 'delivery.retried', object_type: 'delivery', object_id: newUuid() } as const)),
      organization_id,
      request_id: null,
      on_behalf_of: null,
      changed_fields: [],
      changes: '{}',
    }));
    await db.insertInto('audit_log').values(rows).execute();
    for (const path of ['', `/webhooks/${broken}`]) {
      await using window = await stage.enter(path);
      const { page } = window;
      const answer = page.waitForResponse('**/audit?since=*');
      await page.reload();
      const { data } = (await (await answer).json()) as { data: { action: string }[] };
      const marked = new Set(data.map(({ action }) => action));
      expect(marked).toContain('webhook.created');
      expect(marked).not.toContain('webhook.tested');
      expect(marked).not.toContain('delivery.retried');
      await page.getByText('Lines mark changes of a webhook.').waitFor();
    }
  });

  it('a live page reads every 2 seconds while somebody can see it, and not at all while nobody can', async () => {
    await using window = await stage.enter('/webhooks');
    const { page, requested } = window;
    await page.clock.install();
    await page.evaluate('Object.defineProperty(document, "hidden", { get: () => globalThis.isHidden === true })');
    await page.getByRole('link', { name: 'Live', exact: true }).click();
    await untilShown(page);
    const reads = () => requested.filter((address) => address.endsWith('/deliveries?limit=50')).length;
    const readsAgain = async (before: number) => {
      await page.clock.runFor(2000);
      await until('another read', reads, { holds: (count) => count > before });
      await untilShown(page);
    };
    await readsAgain(reads());
    await page.evaluate('globalThis.isHidden = true');
    const before = reads();
    await page.clock.runFor(60_000);
    expect(reads()).toBe(before);
    await page.evaluate('globalThis.isHidden = false; document.dispatchEvent(new Event("visibilitychange"))');
    await until('a read at once', reads, { holds: (count) => count > before });
  });
});
