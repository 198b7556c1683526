import { fromPublicId } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expectGood } from './accessibility.ts';
import { desktop, phone } from './browser.ts';
import { type ConsoleStage, openConsoleStage, press, show, untilShown } from './console-stage.ts';

jest.setTimeout(300_000);

let stage: ConsoleStage;
let isBroken = true;
beforeAll(async () => {
  stage = await openConsoleStage(({ path }) => {
    if (path === '/later') return { status: 503, headers: { 'retry-after': '3600' } };
    return isBroken ? { status: 503, body: 'down for maintenance' } : {};
  });
  await stage.customer.createWebhook(stage.receiver.url('/hook'));
});
afterAll(async () => stage[Symbol.asyncDispose]());

it('from the overview of a failing webhook, two presses send everything again', async () => {
  const { customer } = stage;
  const events = ['one', 'two', 'three'].map((consultation_id) => ({
    organization_id: customer.organizationId,
    type: 'consultation.completed' as const,
    data: { consultation_id },
  }));
  await customer.emit(events);
  const failed = (rows: { status: string }[]) => rows.filter(({ status }) => status === 'failed').length === 3;
  await until('three failed deliveries', () => customer.deliveries(), { holds: failed, withinMs: 120_000 });
  isBroken = false;
  await using window = await stage.enter('');
  const { page } = window;
  await page.getByText('1 of 1 webhook fails since').waitFor();
  await press(page, page.getByRole('link', { name: 'Send all again' }));
  await press(page, page.getByRole('button', { name: 'Send 3 deliveries again' }));
  await page.getByText('Finished').waitFor({ timeout: 120_000 });
  expect((await customer.deliveries('&status=succeeded')).length).toBe(3);
  await page.goto(`${stage.origin}/console/${customer.organizationId}`);
  await page.getByText('and delivers again').waitFor();
  expect(window.complaints).toEqual([]);
});

it('a session that ends keeps what was typed, and leads to the page that mints links', async () => {
  await using window = await stage.enter('/webhooks/new');
  const { page } = window;
  await page.getByLabel('URL').fill('https://example.com/typed');
  await stage.endSessions();
  await page.getByRole('button', { name: 'Add webhook' }).click();
  const again = page.getByRole('form').getByRole('link', { name: 'Sign in again' });
  const address = new URL((await again.getAttribute('href')) ?? '');
  expect(Object.fromEntries(address.searchParams)).toEqual({
    organization_id: stage.customer.organizationId,
    return_to: `/console/${stage.customer.organizationId}/webhooks/new`,
  });
  expect(await page.getByLabel('URL').inputValue()).toBe('https://example.com/typed');
});

it('who signs in again finds the page with those filters that an address may carry', async () => {
  const { customer, origin } = stage;
  const period = 'since=2026-11-28T07%3A00%3A00.000Z';
  await using window = await stage.enter('', {}, { ...desktop, timezoneId: 'Asia/Tokyo' });
  const { page } = window;
  await stage.endSessions();
  const returnTo = async (path: string) => {
    await page.goto(`${origin}/console/${customer.organizationId}${path}`);
    const link = await page.getByRole('link', { name: 'Sign in again' }).getAttribute('href');
    return new URL(link ?? '').searchParams.get('return_to') ?? '';
  };
  const many = Array.from({ length: 20 }, (_, nth) => `id=dlv_${nth}${'0'.repeat(20)}`).join('&');
  for (const path of [`/deliveries?${many}`, '/events?q=a+b', '/%20']) await stage.link({ path: await returnTo(path) });
  await page.goto(
    await stage.link({ path: await returnTo(`/events?q=batch_1&subject=a+b&type=batch.failed&${period}`) }),
  );
  await page.getByRole('button', { name: 'Open console' }).click();
  const inputOf = (name: string) => page.getByLabel(name).inputValue();
  expect(await inputOf('From')).toBe('2026-11-28T16:00');
  expect(await inputOf('Text in the data')).toBe('batch_1');
  const type = page.getByLabel('Type', { exact: true });
  await until('the type', () => type.inputValue(), { holds: (value) => value === 'batch.failed' });
  expect(await inputOf('About')).toBe('');
});

it('after a session has ended, nothing is asked until a person has signed in; then every panel and dialog goes on', async () => {
  await using window = await stage.enter('/keys');
  const { page, requested } = window;
  const signIn = async () => {
    const other = await page.context().newPage();
    await other.goto(await stage.link());
    await other.getByRole('button', { name: 'Open console' }).click();
    await other.getByRole('heading', { name: 'Overview' }).waitFor();
    await other.close();
  };
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog');
  await page.getByLabel('Name').fill('Typed');
  await page.getByLabel('webhooks:read').check();
  await stage.endSessions();
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await dialog.getByRole('link', { name: 'Sign in again' }).waitFor();
  await expectGood(page);
  await signIn();
  await dialog.getByRole('button', { name: 'I have signed in' }).click();
  await dialog.getByRole('alert').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'I have stored it' }).click();
  await page.getByText('Typed').waitFor();

  await page.clock.install();
  await stage.endSessions();
  await page.getByRole('link', { name: 'Live', exact: true }).click();
  await page.getByRole('alert').waitFor();
  const before = requested.length;
  await page.clock.runFor(60_000);
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByRole('heading', { name: 'Usage' }).waitFor();
  await page.clock.runFor(60_000);
  expect(requested.slice(before).filter((address) => address.includes('/console/api/'))).toEqual([]);
  await signIn();
  await page.getByRole('button', { name: 'I have signed in' }).click();
  await page.getByText(/requests in \d+ s/).waitFor();
});

it('a link works once', async () => {
  const link = await stage.link();
  await using first = await stage.browser.open();
  await first.page.goto(link);
  await first.page.getByRole('button', { name: 'Open console' }).waitFor();
  expect(first.page.url()).not.toContain('#');
  await first.page.getByRole('button', { name: 'Open console' }).click();
  await first.page.getByRole('heading', { name: 'Overview' }).waitFor();
  await using second = await stage.browser.open();
  await second.page.goto(link);
  await second.page.getByRole('button', { name: 'Open console' }).click();
  await second.page.getByText('This link does not work').waitFor();
  // A person pastes the next link where the last one failed.
  await second.page.goto(await stage.link({ label: 'Grace Hopper' }));
  await second.page.getByRole('heading', { name: 'Open console for Grace Hopper' }).waitFor();
  await second.page.getByRole('button', { name: 'Open console' }).click();
  await second.page.getByRole('button', { name: 'Sign out' }).click();
  await second.page.getByText('You are signed out.').waitFor();
  expect(await second.page.getByRole('button', { name: 'Open console' }).count()).toBe(0);
});

it('a replay sends what waits at once; canceled, it gives the due time back', async () => {
  const { customer, receiver } = stage;
  const { id } = await customer.createWebhook(receiver.url('/later'), { events: ['batch.partial_failure'] });
  const data = { batch_id: 'batch_1' };
  await customer.emit([{ organization_id: customer.organizationId, type: 'batch.partial_failure', data }]);
  const [before] = await until('the first attempt', () => customer.deliveries(`&webhook_id=${id}`), {
    holds: ([delivery]) => delivery?.attempt_count === 1,
  });
  await using window = await stage.enter(`/webhooks/${id}/replay`);
  const { page, complaints } = window;
  await page.getByText('Nothing matches.').waitFor();
  await page.getByLabel('waiting').check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.getByText('waiting 1').waitFor();
  await press(page, page.getByRole('button', { name: 'Send 1 delivery again' }));
  await press(page, page.getByRole('link', { name: '← Webhook' }));
  await press(page, page.getByRole('link', { name: 'Running' }));
  await press(page, page.getByRole('button', { name: 'Cancel replay' }));
  const dialog = page.getByRole('dialog');
  await dialog.getByText('get their due time back').waitFor();
  const hastened = await customer.deliveries(`&webhook_id=${id}`);
  expect(hastened[0]?.next_attempt_at).not.toBe(before?.next_attempt_at);
  await press(page, dialog.getByRole('button', { name: 'Cancel replay' }));
  await page.getByText('Here they count as canceled.').waitFor();
  expect(await page.locator('.state').first().textContent()).toBe('Canceled');
  expect(await page.getByRole('button', { name: 'Cancel replay' }).count()).toBe(0);
  expect((await customer.deliveries(`&webhook_id=${id}`))[0]).toEqual({ ...before, waiting_for: expect.any(String) });
  expect(complaints).toEqual([]);
});

it('filters and places in lists are in the address; Next and Previous lead there and back', async () => {
  const { customer } = stage;
  const events = Array.from({ length: 60 }, (_, index) => ({
    organization_id: customer.organizationId,
    type: 'batch.completed' as const,
    data: { batch_id: `batch_${index}` },
  }));
  await customer.emit(events);
  const all = (rows: unknown[]) => rows.length >= 60;
  await until('60 deliveries', () => customer.deliveries('&event_type=batch.completed'), { holds: all });
  await using window = await stage.enter('/deliveries');
  const { page } = window;
  await page.getByLabel('Event type').selectOption('batch.completed');
  // Until the answer is shown, the rows before it stay, and Next is disabled.
  const filtered = page.waitForResponse('**event_type=batch.completed');
  await page.getByRole('button', { name: 'Apply' }).click();
  await filtered;
  await page.waitForURL('**event_type=batch.completed');
  const rows = page.getByRole('row');
  await until('a page', () => rows.count(), { holds: (found) => found === 51 });
  const focused = () => page.evaluate('document.activeElement.textContent');
  await page.getByRole('button', { name: 'Next', disabled: false }).press('Enter');
  await until('the rest', () => rows.count(), { holds: (found) => found === 11 });
  expect(await focused()).toBe('Next');
  const shared = page.url();
  await page.getByRole('button', { name: 'Previous' }).press('Enter');
  await until('the first page', () => rows.count(), { holds: (found) => found === 51 });
  expect(await focused()).toBe('Previous');
  await page.goto(shared);
  await until('the shared page', () => rows.count(), { holds: (found) => found === 11 });
  await page.getByRole('link', { name: 'batch.completed' }).first().click();
  await until('the focus', () => page.evaluate('document.activeElement.tagName'), { holds: (tag) => tag === 'H1' });
});

it('nothing secret is in a storage of the browser', async () => {
  await using window = await stage.enter('/webhooks/new');
  const { page } = window;
  await page.getByLabel('URL').fill(stage.receiver.url('/second'));
  await page.getByRole('button', { name: 'Add webhook' }).click();
  await page.getByText('whsec_').first().waitFor();
  const kept =
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, history.state, location.href])';
  expect(await page.evaluate(kept)).not.toMatch(/whsec_|#/);
  expect(await page.evaluate('localStorage.length + sessionStorage.length')).toBe(0);
});

it('a paused webhook says until when and why, and goes on when a person resumes it', async () => {
  await stage.customer.createWebhook(stage.receiver.url('/paused'), { description: 'To pause' });
  await using window = await stage.enter('/webhooks');
  const { page } = window;
  await press(page, page.getByRole('link', { name: '/paused' }));
  await press(page, page.getByRole('button', { name: 'Pause' }));
  await page.getByLabel('Reason').fill('deployment');
  await page.keyboard.press('Enter');
  await page.getByText('deployment').waitFor();
  await press(page, page.getByRole('button', { name: 'Resume' }));
  await page.getByText('Paused until').waitFor({ state: 'detached' });
  await press(page, page.getByRole('button', { name: 'Edit' }));
  await page.getByLabel('Deliveries per second').fill('5');
  await page.getByLabel('a test every hour').check();
  await page.keyboard.press('Enter');
  await page.getByRole('term').filter({ hasText: 'Deliveries per second' }).waitFor();
  await page.getByText('a test every hour').waitFor();
  const rows = (await stage.customer.call('GET', '/v1/webhooks')).text;
  expect(JSON.parse(rows).data[0]).toMatchObject({
    paused: null,
    rate_limit_per_second: 5,
    max_in_flight: null,
    auto_recover: true,
  });
});

it('headers for a gateway arrive with deliveries, and their values are never shown again', async () => {
  const { customer, receiver, origin } = stage;
  await using window = await stage.enter('/webhooks/new', {}, phone);
  const { page, complaints } = window;
  await page.getByLabel('URL').fill(receiver.url('/gateway'));
  await press(page, page.getByRole('button', { name: 'Add header' }));
  await page.keyboard.type('X-Tenant');
  await page.keyboard.press('Tab');
  await page.keyboard.type('canary-1');
  await expectGood(page);
  await page.keyboard.press('Enter');
  await press(page, page.getByRole('button', { name: 'Send test' }));
  const sent = await until('the test', () => receiver.requests.find(({ path }) => path === '/gateway'));
  expect(sent?.headers['x-tenant']).toBe('canary-1');
  const read = async () => JSON.parse((await customer.call('GET', '/v1/webhooks')).text).data[0];
  const { id } = await read();
  await show(page, `${origin}/console/${customer.organizationId}/webhooks/${id}`);
  const save = async (change: () => Promise<void>) => {
    await press(page, page.getByRole('button', { name: 'Edit' }));
    await page.getByText('X-Tenant').first().waitFor();
    await change();
    await expectGood(page);
    const everything = `[document.body.innerText, ...[...document.querySelectorAll('input')].map(({ value }) => value)]`;
    expect(String(await page.evaluate(everything))).not.toContain('canary-1');
    await press(page, page.getByRole('button', { name: 'Save' }));
    await page.getByRole('button', { name: 'Edit' }).waitFor();
    return (await read()).header_names;
  };
  expect(await save(() => page.getByLabel('Description').fill('Kept'))).toEqual(['X-Tenant']);
  const replace = () => press(page, page.getByRole('button', { name: 'Replace headers' }));
  const replaced = save(async () => {
    await replace();
    expect(await page.getByLabel('Name of header 1').inputValue()).toBe('X-Tenant');
    await page.getByLabel('Value of header 1').fill('another');
    await press(page, page.getByRole('button', { name: 'Add header' }));
    await page.keyboard.type('__proto__');
    await page.getByLabel('Value of header 2').fill('third');
    await press(page, page.getByRole('button', { name: 'Add header' }));
    await page.keyboard.type('x-TENANT ');
    await page.getByLabel('Value of header 3').fill('lost');
    await press(page, page.getByRole('button', { name: 'Save' }));
    const refused = page.locator('input:invalid');
    expect(await refused.evaluate((input: { validationMessage: string }) => input.validationMessage)).toBe(
      'Another header has this name.',
    );
    await press(page, page.getByRole('button', { name: 'Remove header 3' }));
  });
  expect(await replaced).toEqual(['X-Tenant', '__proto__']);
  const removed = save(async () => {
    await replace();
    await press(page, page.getByRole('button', { name: 'Remove header 1' }));
    await press(page, page.getByRole('button', { name: 'Remove header 1' }));
    await page.getByLabel('a test every hour').check();
  });
  expect(await removed).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a key is created, shown once, and replaced in one dialog', async () => {
  await using window = await stage.enter('/keys');
  const { page } = window;
  await press(page, page.getByRole('button', { name: 'Create key' }));
  await page.getByLabel('Name').fill('Pipeline');
  await page.getByLabel('webhooks:read').check();
  expect(await page.getByLabel('keys:write').count()).toBe(0);
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click();
  const secret = page.getByRole('figure', { name: 'The key' });
  const first = (await secret.textContent()) ?? '';
  await press(page, page.getByRole('button', { name: 'I have stored it' }));
  await page.getByRole('row').filter({ hasText: 'Pipeline' }).getByRole('button', { name: 'Rotate' }).click();
  await page.getByRole('button', { name: 'Create the new key' }).click();
  await page.getByText('It is shown only here.').waitFor();
  const second = (await secret.textContent()) ?? '';
  await page.getByRole('button', { name: 'Revoke the old key now' }).click();
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  const statusWith = async (key: string) =>
    (await fetch(`${stage.api.url}/v1/webhooks`, { headers: { authorization: `Bearer ${key}` } })).status;
  await until('the old key to be refused', () => statusWith(first), { holds: (status) => status === 401 });
  expect(await statusWith(second)).toBe(200);
  expect(await page.locator('body').textContent()).not.toContain(second);
});

it('the debugger says why a receiver refuses a signature', async () => {
  const { customer } = stage;
  const webhook = await customer.createWebhook(stage.receiver.url('/signed'), { events: ['batch.failed'] });
  const test = await customer.call('POST', `/v1/webhooks/${webhook.id}/test`);
  expect(test.status).toBe(202);
  const arrived = await until('the test', () => stage.receiver.requests.find(({ path }) => path === '/signed'));
  await using window = await stage.enter('/signatures', {});
  const { page } = window;
  await page.getByLabel('Webhook').selectOption(webhook.id);
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature', 'x-service-signature'];
  await page.getByLabel('Headers').fill(names.map((name) => `${name}: ${arrived?.headers[name]}`).join('\n'));
  await page.getByLabel('Body').fill(`${String(arrived?.body)} `);
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('whitespace_changed').first().waitFor();
  await page.getByLabel('Body').fill(String(arrived?.body));
  await page.getByRole('button', { name: 'Check' }).click();
  await page.getByText('The signature is right.').first().waitFor();
});

describe('a search', () => {
  // What shells, addresses and patterns would read differently.
  const needle = ' 100% "<b>" a_b\\ +&# ';
  const organization = () => fromPublicId('org', stage.customer.organizationId) as string;
  let found: string | undefined;
  beforeAll(async () => {
    const data = { batch_id: 'needle', note: `before ${needle} after` };
    await stage.customer.emit([{ organization_id: stage.customer.organizationId, type: 'batch.completed', data }]);
    const { text } = await stage.customer.call('GET', `/v1/events?q=${encodeURIComponent(needle)}`);
    found = (JSON.parse(text) as { data: { id: string }[] }).data[0]?.id;
    await sql`with written as (
        insert into events (id, organization_id, type) select uuidv7(), ${organization()}, 'batch.failed'
        from generate_series(1, 1500) returning id)
      insert into event_bodies
      select id, json_build_object('data', json_build_object('note', repeat('hay ', 60000)))::text
      from written`.execute(stage.db);
  });

  const searchFor = async (page: Page, text: string) => {
    await page.getByLabel('Text in the data').fill(text);
    await page.keyboard.press('Enter');
  };
  const searchOn = async (page: Page) => {
    const answer = page.waitForResponse('**/v1/events?*');
    await press(page, page.getByRole('button', { name: 'Search on' }));
    await answer;
    await untilShown(page);
  };

  /** @returns the address of the page before the one that has it */
  const searchUntilFound = async (page: Page) => {
    let last = '';
    while ((await page.locator(`td a[href$="${found}"]`).count()) === 0) {
      last = page.url();
      await searchOn(page);
    }
    return last;
  };

  describe.each([
    ['a desktop', desktop],
    ['a phone', phone],
  ])('on %s', (_device, options) => {
    it('that finds nothing in its time says how far it looked, and goes on until it finds the text', async () => {
      await using window = await stage.enter('', {}, options);
      const { page } = window;
      await show(page, `${stage.origin}/console/${stage.customer.organizationId}/events`);
      const answer = page.waitForResponse('**/v1/events?*q=*');
      await searchFor(page, needle);
      await page.getByText('Searched back to').waitFor();
      const { searched_until } = (await (await answer).json()) as { searched_until: string };
      expect(await page.getByRole('status').locator('time').getAttribute('datetime')).toBe(searched_until);
      await page.getByText('Nothing found in this part.').waitFor();
      await expectGood(page);
      const first = page.url();
      const last = await searchUntilFound(page);
      expect(await page.getByRole('row').count()).toBe(2);
      await using other = await stage.enter('', { scopes: ['me:read', 'webhooks:read'] });
      await show(other.page, first);
      await searchUntilFound(other.page);
      expect(await other.page.getByLabel('Text in the data').inputValue()).toBe(needle);
      await press(page, page.getByRole('button', { name: 'Previous' }));
      await page.waitForURL(last);
      await searchFor(page, ` ${found} `);
      await page.waitForURL(`**/events/${found}`);
      expect(window.complaints).toEqual([]);
    });

    it('that could read nothing says so, and begins anew', async () => {
      await using window = await stage.enter('/events', {}, options);
      const { page } = window;
      await stage.db.transaction().execute(async (trx) => {
        await sql`lock table event_bodies in access exclusive mode`.execute(trx);
        await searchFor(page, 'hay');
        await page.getByText('The search read nothing in its time.').waitFor();
        await searchOn(page);
        await page.getByText('Nothing found in this part.').waitFor();
        await expectGood(page);
      });
      await searchOn(page);
      await page.getByRole('row').nth(1).waitFor();
    });

    it('waits while another one of the organization runs, and then begins by itself', async () => {
      await using window = await stage.enter('/deliveries?last_error=timeout', {}, options);
      const { page } = window;
      await page.getByText('Searched to the end.').waitFor();
      await stage.db.transaction().execute(async (trx) => {
        const lock = sql`pg_advisory_xact_lock(hashtextextended('search of ' || ${organization()}, 0))`;
        await sql`select ${lock}`.execute(trx);
        await page.reload();
        await page.getByText('Another search of this organization is running.').waitFor();
        await page.getByText('The page asks again in').waitFor();
        await expectGood(page);
      });
      await page.getByText('No delivery matches.').waitFor();
    });

    it('is not for a session that hides bodies, which says so', async () => {
      const values = { show_bodies: false, scopes: ['me:read', 'webhooks:read'] };
      await using window = await stage.enter('/events?q=needle', values, options);
      const { page } = window;
      await page.getByRole('alert').getByText('This session hides the contents').waitFor();
      expect(await page.getByLabel('Text in the data').isDisabled()).toBe(true);
      await expectGood(page);
      await page.getByRole('button', { name: 'Clear filters' }).click();
      await page.locator('td a').first().waitFor();
      expect(await page.getByRole('alert').count()).toBe(0);
    });
  });
});
