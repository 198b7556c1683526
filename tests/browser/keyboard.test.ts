import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { Page } from 'playwright-core';
import { desktop, phone } from './browser.ts';
import { type BrowserStage, openBrowserStage } from './stage.ts';

jest.setTimeout(240_000);

let stage: BrowserStage;
beforeAll(async () => {
  stage = await openBrowserStage();
});
afterAll(async () => stage[Symbol.asyncDispose]());

/** Finds what a person can operate, in the order of the page, as far as it is visible. */
const findOperable = `operable = [...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
  .filter((element) => element.checkVisibility({ visibilityProperty: true })), operable.length`;

/** The place of what has the focus, how the focus is shown, and its markup. */
const focused = `[operable.indexOf(document.activeElement), getComputedStyle(document.activeElement).outlineStyle,
  document.activeElement.outerHTML.slice(0, 200)]`;

/** Presses Tab until the focus leaves the page; the places of what it reached, and what could not be seen to have it. */
async function tabThrough(page: Page): Promise<{ count: number; reached: number[]; unseen: string[] }> {
  const count = await page.evaluate<number>(findOperable);
  const reached: number[] = [];
  const unseen: string[] = [];
  for (let presses = 0; presses < count + 50; presses++) {
    await page.keyboard.press('Tab');
    const [place, outline, markup] = await page.evaluate<[number, string, string]>(focused);
    if (place === -1) break;
    reached.push(place);
    if (outline === 'none') unseen.push(markup);
  }
  return { count, reached, unseen };
}

it.each([
  ['/docs', 'a phone', phone],
  ['/docs/events/batch.failed', 'a phone', phone],
  ['/docs/operations', 'a desktop', desktop],
  ['/docs/areas', 'a desktop', desktop],
  ['/docs/objects', 'a phone', phone],
  ['/docs/events', 'a phone', phone],
])('Tab reaches everything on %s in its order, on %s, and the focus can be seen', async (path, _device, options) => {
  await using window = await stage.browser.open(options);
  const { count, reached, unseen } = await tabThrough(await window.read(stage.url + path));
  expect(reached).toEqual(Array.from({ length: count }, (_, place) => place));
  expect(unseen).toEqual([]);
});

describe('with the keyboard', () => {
  it('the first link skips the navigation', async () => {
    await using window = await stage.browser.open();
    const page = await window.read(`${stage.url}/docs/areas`);
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Tab');
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true);
  });

  it('the filter finds an operation, and Enter goes there', async () => {
    await using window = await stage.browser.open();
    const page = await window.read(`${stage.url}/docs`);
    await page.getByLabel('Find').focus();
    await page.keyboard.type('rotate webhook sec');
    expect(await page.locator('nav li:visible').count()).toBe(1);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/operations#rotateWebhookSecret');
  });

  it('the navigation of a phone opens, leads on, and closes again', async () => {
    await using window = await stage.browser.open(phone);
    const page = await window.read(`${stage.url}/docs`);
    const button = page.getByRole('button', { name: 'Contents' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByRole('navigation').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Verify signatures' }).first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL('**/docs/verify');
    await page.getByRole('navigation').waitFor({ state: 'hidden' });
  });

  it('an operation is tried and its example opened with Tab, Enter and a pasted key', async () => {
    await using window = await stage.browser.open();
    const page = await window.read(`${stage.url}/docs/operations`);
    await page.locator('#getMe a').focus();
    await pressUntil(page, 'matches("form[aria-label=\'Try getMe\'] [data-key]")');
    await page.keyboard.insertText(stage.customer.key);
    await page.keyboard.press('Enter');
    const form = page.getByRole('form', { name: 'Try getMe' });
    await form.getByText('200 OK').waitFor();
    await pressUntil(page, 'matches("summary")');
    await page.keyboard.press('Enter');
    await page.locator('details[open]').waitFor();
  });
});

/** Presses Tab until the focused element is the one that is meant. */
async function pressUntil(page: Page, condition: string): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    await page.keyboard.press('Tab');
    if (await page.evaluate(`document.activeElement.${condition}`)) return;
  }
  throw new Error(`40 times Tab, and no element where ${condition}`);
}
