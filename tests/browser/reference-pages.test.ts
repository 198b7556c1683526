import { until } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { loadAxe, violationsOf } from './accessibility.ts';
import { desktop, phone } from './browser.ts';
import { type BrowserStage, openBrowserStage } from './stage.ts';

/** A rule of accessibility looks at every element of a long page; with all tests beside it, that takes a while. */
const patienceMs = 240_000;

const paths = [
  '/docs',
  '/docs/receive',
  '/docs/verify',
  '/docs/test-locally',
  '/docs/debug-a-delivery',
  '/docs/coding-agents',
  '/docs/operational-events',
  '/docs/rotate-a-secret',
  '/docs/follow-events',
  '/docs/call-the-api',
  '/docs/errors',
  '/docs/source-addresses',
  '/docs/retention',
  '/docs/versions',
  '/docs/operations',
  '/docs/objects',
  '/docs/areas',
  '/docs/downloads',
  '/docs/events',
  '/docs/events/batch.completed',
  '/docs/events/webhook.test',
];

/** Finds words of tables that are on two lines. Each part of a name that may break at its seams is a text of its own. */
const brokenWords = `
  [...document.querySelectorAll('td, th')].flatMap((cell) => {
    const broken = [];
    const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
      for (const { 0: word, index } of text.data.matchAll(/[^\\s-]+/g)) {
        const range = new Range();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        if (new Set([...range.getClientRects()].filter(({ width }) => width > 0).map(({ top }) => top)).size > 1) broken.push(word);
      }
    }
    return broken;
  })`;

/** Whether a reader sees the middle of an element: it is on the screen, and below nothing else. */
const inSight = `(selector) => {
  const element = document.querySelector(selector);
  const { x, y, width, height } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint(x + width / 2, y + height / 2));
}`;

let stage: BrowserStage;
beforeAll(async () => {
  stage = await openBrowserStage();
});
afterAll(async () => stage[Symbol.asyncDispose]());

jest.setTimeout(patienceMs);

describe.each([
  ['a desktop', desktop],
  ['a phone', phone],
])('the reference on %s', (_device, options) => {
  it.each(paths)('%s breaks no rule of accessibility, in light and in dark colours', async (path) => {
    await using window = await stage.browser.open(options);
    const { page } = window;
    await loadAxe(page);
    await window.read(stage.url + path);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violationsOf(page)).toEqual([]);
    }
    expect(window.complaints).toEqual([]);
  });

  it.each(paths)('%s does not scroll sideways, and breaks no word in a table', async (path) => {
    await using window = await stage.browser.open(options);
    await window.read(stage.url + path);
    const [content, screen] = await window.page.evaluate<number[]>(
      '[document.documentElement.scrollWidth, innerWidth]',
    );
    expect(content).toBeLessThanOrEqual(screen as number);
    expect(await window.page.evaluate<string[]>(brokenWords)).toEqual([]);
  });

  it('shows the entry of the page in the navigation, beside its field', async () => {
    await using window = await stage.browser.open(options);
    const { page } = window;
    await window.read(`${stage.url}/docs/events/replay.finished`);
    const contents = page.getByRole('button', { name: 'Contents' });
    if (await contents.isVisible()) await contents.click();
    const isInSight = (selector: string) => page.evaluate<boolean>(`(${inSight})(${JSON.stringify(selector)})`);
    await until('the entry is in sight', () => isInSight('nav [aria-current]'));
    expect(await isInSight('#filter')).toBe(true);
    expect(await page.evaluate('scrollY')).toBe(0);
  });
});

describe('the reference', () => {
  it('has other colours in the dark', async () => {
    await using window = await stage.browser.open();
    await window.read(`${stage.url}/docs`);
    const colours = [];
    for (const colorScheme of ['light', 'dark'] as const) {
      await window.page.emulateMedia({ colorScheme });
      colours.push(await window.page.evaluate<string>('getComputedStyle(document.body).backgroundColor'));
    }
    expect(new Set(colours).size).toBe(2);
  });

  it('asks no other origin for anything, and its policy blocks nothing of its own', async () => {
    await using window = await stage.browser.open();
    for (const path of paths) await window.read(stage.url + path);
    expect(window.requested.length).toBeGreaterThan(paths.length);
    expect(window.requested.filter((address) => new URL(address).origin !== stage.url)).toEqual([]);
    expect(window.complaints).toEqual([]);
  });

  it('has links that lead to a page and to a place on it', async () => {
    await using window = await stage.browser.open();
    const anchors = new Map<string, string[]>();
    const links = new Set<string>();
    for (const path of await everyPage()) {
      await window.read(stage.url + path);
      anchors.set(
        path,
        await window.page.evaluate<string[]>('[...document.querySelectorAll("[id]")].map(({ id }) => id)'),
      );
      const own = await window.page.evaluate<string[]>('[...document.links].map(({ href }) => href)');
      for (const link of own) links.add(link);
    }
    const broken = [...links].filter((link) => {
      const { origin, pathname, hash } = new URL(link);
      if (origin !== stage.url || pathname === '/openapi.json') return false;
      const found = anchors.get(pathname);
      return found === undefined || (hash !== '' && !found.includes(decodeURIComponent(hash.slice(1))));
    });
    expect(broken).toEqual([]);
  });

  it('can be read without JavaScript: pages, navigation on a phone, and no form', async () => {
    await using window = await stage.browser.open({ ...phone, javaScriptEnabled: false });
    const { page } = window;
    await page.goto(`${stage.url}/docs`);
    await page.getByRole('heading', { name: 'Save a receiver' }).waitFor();
    await page.getByRole('button', { name: 'Contents' }).click();
    await page.getByRole('link', { name: 'batch.partial_failure' }).click();
    await page.getByRole('heading', { name: 'batch.partial_failure', level: 1 }).waitFor();
    await page.goto(`${stage.url}/docs/operations`);
    expect(await page.locator('form:visible').count()).toBe(0);
    await page.getByText('curl -H').first().waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('is printed without navigation and forms', async () => {
    await using window = await stage.browser.open();
    await window.read(`${stage.url}/docs/operations`);
    await window.page.emulateMedia({ media: 'print' });
    expect(await window.page.locator('nav:visible, form:visible, body > header:visible').count()).toBe(0);
    expect(await window.page.locator('h1:visible').count()).toBe(1);
  });
});

/** The pages that the navigation leads to. */
async function everyPage(): Promise<string[]> {
  await using window = await stage.browser.open();
  await window.read(`${stage.url}/docs`);
  const links = await window.page.evaluate<string[]>(
    '[...document.querySelectorAll("nav a")].map(({ pathname }) => pathname)',
  );
  return [...new Set(links)];
}
