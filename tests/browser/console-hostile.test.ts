import { fromPublicId, newUuid } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { phone } from './browser.ts';
import { type ConsoleStage, openConsoleStage, show } from './console-stage.ts';

jest.setTimeout(900_000);

/** Each of these runs, leads away or deceives where a page takes text for more than text. */
const markup = [
  '<script>hacked=1</script>',
  '</script><script>hacked=1</script>',
  '<img src=x onerror=hacked=1>',
  '<img src="https://foreign.example/x.png">',
  '<svg onload=hacked=1>',
  '<svg><script>hacked=1</script></svg>',
  '<svg><a xlink:href="javascript:hacked=1"><text x=20 y=20>x</text></a></svg>',
  '<svg><animate onbegin=hacked=1 attributeName=x dur=1s>',
  '<svg><use href="https://foreign.example/#x"/></svg>',
  '<math><mtext></mtext><mglyph><style><img src onerror=hacked=1></style></mglyph></math>',
  '<iframe src="javascript:hacked=1"></iframe>',
  '<iframe srcdoc="<script>hacked=1</script>"></iframe>',
  '<object data="https://foreign.example/"></object>',
  '<embed src="javascript:hacked=1">',
  '<a href="javascript:hacked=1">x</a>',
  '<a href="java\tscript:hacked=1">x</a>',
  '<base href="https://foreign.example/">',
  '<link rel=stylesheet href="https://foreign.example/x.css">',
  '<meta http-equiv=refresh content="0;url=https://foreign.example/">',
  '<style>@import "https://foreign.example/x.css";</style>',
  '<form action="https://foreign.example/"><button>Sign in</button></form>',
  '<input autofocus onfocus=hacked=1>',
  '<details open ontoggle=hacked=1>',
  '<video><source onerror=hacked=1></video>',
  '<body onload=hacked=1>',
  '<marquee onstart=hacked=1>',
  '<template><script>hacked=1</script></template>',
  '<noscript><p title="</noscript><img src=x onerror=hacked=1>">',
  '<!--><img src=x onerror=hacked=1>-->',
  '<x onclick=hacked=1 tabindex=1 autofocus>',
  '"><script>hacked=1</script>',
  "'><script>hacked=1</script>",
  '" onmouseover="hacked=1',
  "' autofocus onfocus='hacked=1",
  '&lt;script&gt;hacked=1&lt;/script&gt;',
  '&#60;script&#62;hacked=1&#60;/script&#62;',
  'javascript:hacked=1',
  'JaVaScRiPt://%0ahacked=1',
  'data:text/html,<script>hacked=1</script>',
  'vbscript:hacked=1',
  '//foreign.example/x',
  '../../me?',
  'https://foreign.example@127.0.0.1/',
  '{{constructor.constructor("hacked=1")()}}',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it must stay as it is.
  '${hacked=1}',
  '{"__html":"<img src=x onerror=hacked=1>"}',
  '{"type":"script","props":{"dangerouslySetInnerHTML":{"__html":"hacked=1"}}}',
  '__proto__',
  'constructor',
  '{"__proto__":{"hacked":1}}',
  'toString',
  '%3Cscript%3Ehacked=1%3C/script%3E',
  '\\u003cscript\\u003ehacked=1\\u003c/script\\u003e',
  '+ADw-script+AD4-hacked=1+ADw-/script+AD4-',
];
const deceiving = [
  'paid \u202egnp.exe',
  '\u2066admin\u2069 \u2067support',
  'zero\u200bwidth\u200djoin',
  '\u001b[31mred\u001b[0m \u001b]8;;https://foreign.example\u0007link\u001b]8;;\u0007',
  'line\u2028separator\u2029',
  '\ufeffmark \u00ad soft',
  'bell\u0007 back\u0008space \u007f',
];
const strings = [...markup, ...deceiving];
const invisible = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u;

let stage: ConsoleStage;
beforeAll(async () => {
  stage = await openConsoleStage(({ path, body }) => {
    if (path === '/large') return { body: 'x'.repeat(16_384) };
    const number = Number(/"number":(\d+)/.exec(String(body))?.[1] ?? 0);
    const headers = { 'content-type': 'text/plain', server: markup[number] ?? 'nginx' };
    return { status: 400, headers, body: strings[number] ?? '' };
  });
});
afterAll(async () => stage[Symbol.asyncDispose]());

/** Nothing ran, nothing was asked of another origin, and no character hides. */
async function expectHarmless(page: Page, seen: readonly string[]): Promise<void> {
  expect(await page.evaluate('globalThis.hacked')).toBeUndefined();
  expect(await page.evaluate('({}).hacked')).toBeUndefined();
  const text = await page.locator('body').innerText();
  expect(invisible.exec(text)).toBeNull();
  for (const part of seen) expect(text).toContain(part);
}

it(`shows ${strings.length} hostile strings in every field as text`, async () => {
  const { customer, receiver, origin, db } = stage;
  const { id } = await customer.createWebhook(receiver.url('/<script>hacked=1</script>?"onload=hacked=1'), {
    events: ['consultation.*'],
    description: strings[0],
  });
  await customer.emit(
    strings.map((text, number) => ({
      organization_id: customer.organizationId,
      type: 'consultation.completed' as const,
      data: { consultation_id: text.slice(0, 200), number, note: text, [text]: { [text]: text } },
    })),
  );
  const over = (rows: { status: string }[]) =>
    rows.length === strings.length && rows.every((row) => row.status === 'failed');
  const rows = await until('the deliveries', () => customer.deliveries(), { holds: over, withinMs: 600_000 });
  const name = `${strings[4]}`;
  await customer.internal('PATCH', `/internal/v1/organizations/${customer.organizationId}`, { name });
  await using window = await stage.enter('/deliveries', { label: strings[2] as string });
  const { page, complaints, requested } = window;
  const at = (path: string) => show(page, `${origin}/console/${customer.organizationId}${path}`);
  await expectHarmless(page, ['<svg onload=hacked=1>', '<img src=x onerror=hacked=1>']);
  await at('/events');
  await expectHarmless(page, []);
  // A page lists 50 of the events, in the order of ids that were made in one instant.
  const listed = await page.locator('body').innerText();
  expect(markup.filter((text) => listed.includes(text)).length).toBeGreaterThan(markup.length / 2);
  for (const { id: delivery, event_id } of rows) {
    await at(`/deliveries/${delivery}`);
    await expectHarmless(page, ['server: ', 'Connected to 127.0.0.1']);
    await at(`/events/${event_id}`);
    await expectHarmless(page, []);
  }
  for (const text of strings) {
    const changed = await customer.call('PATCH', `/v1/webhooks/${id}`, { description: text });
    const paused = await customer.call('POST', `/v1/webhooks/${id}/pause`, { reason: text });
    // The API accepts few of them as the name of a header.
    const named = db.updateTable('webhooks').set({ header_names: [text, text] });
    await named.where('id', '=', fromPublicId('whk', id) as string).execute();
    await at(`/webhooks/${id}`);
    await expectHarmless(page, changed.status === 200 ? ['URL'] : []);
    const shown = text.replace('\t', ' ');
    if (!invisible.test(text)) await expectHarmless(page, [`${shown}, ${shown}`]);
    if (!invisible.test(text) && paused.status === 200) await expectHarmless(page, [`· ${shown}`]);
  }
  await at('/webhooks');
  await expectHarmless(page, []);
  for (const name of strings)
    await customer.internal('POST', `/internal/v1/organizations/${customer.organizationId}/keys`, {
      name,
      scopes: ['me:read'],
    });
  await at('/keys');
  await expectHarmless(page, ['<script>hacked=1</script>']);
  // Also what an address says that a stranger wrote, in every parameter of every page.
  const names = ['webhook_id', 'event_id', 'event_type', 'type', 'status', 'subject', 'since', 'until', 'cursor', 'id'];
  names.push('last_status_code', 'last_error', 'error', 'status_code', 'rate_per_second', 'range', 'month', 'by');
  const pages = ['/events', '/signatures', '/event-types', '/usage', '', `/webhooks/${id}/replay`];
  for (const [nth, text] of strings.entries()) {
    const query = names.map((name) => `${name}=${encodeURIComponent(text)}`).join('&');
    await at(`/deliveries?${query}`);
    await expectHarmless(page, []);
    for (const label of ['Last status', 'Delivery ids', 'About'])
      expect(await page.getByLabel(label).inputValue()).toBe(text);
    const others = pages.map((path) => `${path}?${query}`);
    others.push(`${others.at(-1)}&replay=${encodeURIComponent(text)}`);
    // Every page gets the path and the names that every object has; the other strings take turns.
    const isForAll = text in {} || text.startsWith('..');
    for (const [index, address] of others.entries()) {
      if (!isForAll && index !== nth % others.length) continue;
      await at(address);
      await expectHarmless(page, []);
    }
    // A search takes each of them literally: it finds the event that contains it.
    await at(`/events?q=${encodeURIComponent(text)}`);
    await expectHarmless(page, ['consultation.completed']);
    expect(await page.getByLabel('Text in the data').inputValue()).toBe(text);
  }
  expect(requested.filter((address) => new URL(address).origin !== origin)).toEqual([]);
  expect(requested.filter((address) => new URL(address).pathname.endsWith('/v1/me'))).toEqual([]);
  expect(complaints.filter((text) => !/status of 40[04]/.test(text))).toEqual([]);
});

it('shows addresses and headers of answers as text, whatever the database holds', async () => {
  const { customer, db, receiver } = stage;
  await customer.createWebhook(receiver.url('/headers'), { events: ['batch.failed'] });
  await customer.emit([{ organization_id: customer.organizationId, type: 'batch.failed', data: { batch_id: 'b' } }]);
  const [delivery] = await until('the delivery', () => customer.deliveries('&event_type=batch.failed'), {
    holds: (rows) => rows[0]?.status === 'failed',
  });
  const uuid = fromPublicId('dlv', delivery?.id ?? '') as string;
  const attempts = db.selectFrom('attempts').selectAll().where('delivery_id', '=', uuid);
  const attempt = await attempts.executeTakeFirstOrThrow();
  const long = 'x'.repeat(2_000);
  const rows = [...strings, long].map((text, nth) => ({
    ...attempt,
    id: newUuid(),
    number: nth + 10,
    superseded: true,
    remote_address: text,
    response_headers: JSON.stringify({ server: text, [text]: text }),
  }));
  await db.insertInto('attempts').values(rows).execute();
  await using window = await stage.enter(`/deliveries/${delivery?.id}`, {}, phone);
  const { page, complaints, requested } = window;
  const told = [...markup, long].flatMap((text) => [`Connected to ${text.replace('\t', ' ')}`, `${text}: ${text}`]);
  await expectHarmless(page, [...told, '⟨U+202E⟩', '⟨U+001B⟩[31mred']);
  const [content, screen] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBeLessThanOrEqual(screen as number);
  expect(requested.filter((address) => new URL(address).origin !== stage.origin)).toEqual([]);
  expect(complaints).toEqual([]);
});

it('a link says whom it is for: a name is text, and a page that only shows it leaves the link unused', async () => {
  await using window = await stage.browser.open(phone);
  const { page, complaints, requested } = window;
  const named: string[] = [];
  for (const label of strings) {
    const link = await stage.link({ label }).catch(() => undefined);
    if (link === undefined) continue;
    named.push(label);
    await page.goto('about:blank');
    await page.goto(link);
    await page.getByRole('heading', { name: 'Open console for' }).waitFor();
    await expectHarmless(page, invisible.test(label) ? ['⟨U+'] : [`Open console for ${label}`]);
  }
  expect(named.length).toBeGreaterThan(markup.length / 2);
  await page.getByRole('button', { name: 'Open console' }).click();
  await page.locator('.who').waitFor({ state: 'attached' });
  await expectHarmless(page, []);
  expect(requested.filter((address) => ![stage.origin, 'null'].includes(new URL(address).origin))).toEqual([]);
  expect(complaints).toEqual([]);
});

it('shows an event of 256 KiB', async () => {
  const { customer, receiver } = stage;
  await customer.createWebhook(receiver.url('/large'), { events: ['batch.*'] });
  const data = { batch_id: 'large', text: '<b>\u202e"'.repeat(28_000) };
  await customer.emit([{ organization_id: customer.organizationId, type: 'batch.completed', data }]);
  const delivered = await until('the delivery', () => customer.deliveries('&event_type=batch.completed'), {
    holds: (rows) => rows[0]?.status === 'succeeded',
  });
  await using window = await stage.enter(`/deliveries/${delivered[0]?.id}`);
  await expectHarmless(window.page, ['⟨U+202E⟩']);
  expect(window.complaints).toEqual([]);
});
