import { findChromium } from '@enterprise-api/testkit';
import { installPackages, type SearchOptions } from './install.ts';

/** Whether the tests have the browser in which they use the reference pages. */
export type BrowserSource = { kind: 'program' } | { kind: 'none'; problem: string; advice: string };

const advice =
  'Install Chromium (Debian: sudo apt-get install chromium; macOS: brew install --cask chromium), or Google Chrome.';

/** A Chromium on the PATH; else one installed with apt-get, when permitted; else advice. */
export async function findBrowser(options: SearchOptions): Promise<BrowserSource> {
  if (findChromium() !== undefined) return { kind: 'program' };
  const problem = await installPackages(['chromium'], options);
  return findChromium() === undefined ? { kind: 'none', problem, advice } : { kind: 'program' };
}
