import { findChromium } from '@enterprise-api/testkit';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

/** A browser, and the windows that a test opens in it. */
export interface TestBrowser extends AsyncDisposable {
  /** A window of its own: no storage, cookie or cache of another one. */
  open(options?: BrowserContextOptions): Promise<TestWindow>;
}

export interface TestWindow extends AsyncDisposable {
  readonly page: Page;
  /** Loads a page of the reference, and waits until its script has done its work. */
  read(address: string): Promise<Page>;
  /** What the page complained about: errors of its script, of its policy, of requests. */
  readonly complaints: readonly string[];
  /** The addresses of all its requests. */
  readonly requested: readonly string[];
}

export const desktop = { viewport: { width: 1280, height: 900 } };
export const phone = { viewport: { width: 320, height: 700 }, hasTouch: true, isMobile: true };

/** Starts a Chromium without a screen. As root it has no sandbox, which here only loads pages of ours. */
export async function startBrowser(): Promise<TestBrowser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error('This test needs Chromium: install the package chromium.');
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  const browser = await chromium.launch({ executablePath, args, timeout: 60_000 });
  return {
    open: async (options = desktop) => {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(60_000);
      const page = await context.newPage();
      const complaints: string[] = [];
      const requested: string[] = [];
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text());
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('request', (request) => requested.push(request.url()));
      const read = async (address: string) => {
        await page.goto(address);
        await page.locator('.filter:not([hidden])').waitFor({ state: 'attached' });
        return page;
      };
      return { page, read, complaints, requested, [Symbol.asyncDispose]: () => context.close() };
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
}
