import { findProgram } from '../processes/find-program.ts';

/** The path of a Chromium on this machine. */
export function findChromium(): string | undefined {
  return findProgram(['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'], process.env.PATH);
}
