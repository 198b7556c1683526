import { expect } from '@jest/globals';
import axe, { type AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';

/** Loads axe into every page that a window opens from now on, past the page's own policy. */
export async function loadAxe(page: Page): Promise<void> {
  await page.addInitScript(axe.source);
}

/** Every violation of axe's rules, its best practices included, with the elements that it is about. */
export async function violationsOf(page: Page): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResults>('axe.run({ resultTypes: ["violations"] })');
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/** What a person asked of the browser. With `reduce`, nothing is half faded in while axe looks. */
type Motion = 'reduce' | 'no-preference';

/** In both colours: no finding of axe, and nothing beside the screen. */
export async function expectGood(page: Page, reducedMotion: Motion = 'reduce'): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme, reducedMotion });
    expect(await violationsOf(page)).toEqual([]);
  }
  const [content, screen] = await page.evaluate<number[]>('[document.documentElement.scrollWidth, innerWidth]');
  expect(content).toBeLessThanOrEqual(screen as number);
}
