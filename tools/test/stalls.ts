import { readFileSync } from 'node:fs';
import { countFailures, type SuiteResult } from './suite-results.ts';

/** A time in which the machine did not run its programs. Milliseconds since 1970. */
export interface Stall {
  from: number;
  to: number;
}

export interface StallWatch extends Disposable {
  /** Those until now. */
  readonly stalls: readonly Stall[];
}

/** Also on a busy machine, a program that hardly does anything gets its turn sooner. */
const stallMs = 250;
const lookEveryMs = 50;
const askEveryMs = 500;

/**
 * Notes when this machine stood still: when this process, which only waits, did not get its turn, or when the host of a
 * virtual machine gave one of its processors to others.
 */
export function watchStalls(): StallWatch {
  const stalls: Stall[] = [];
  const start = Date.now();
  let lookedAt = start;
  let asked = { at: start, stolenMs: readStolenMs() };
  const timer = setInterval(() => {
    const now = Date.now();
    if (now - lookedAt - lookEveryMs > stallMs) stalls.push({ from: lookedAt, to: now });
    lookedAt = now;
    if (now - asked.at < askEveryMs) return;
    const stolenMs = readStolenMs();
    if (stolenMs.some((ms, cpu) => ms - (asked.stolenMs[cpu] ?? ms) > stallMs))
      stalls.push({ from: asked.at, to: now });
    asked = { at: now, stolenMs };
  }, lookEveryMs).unref();
  return { stalls, [Symbol.dispose]: () => clearInterval(timer) };
}

/** The time that the host has given to others, of each processor. Empty where the system does not tell. */
function readStolenMs(): number[] {
  try {
    return parseStolenMs(readFileSync('/proc/stat', 'latin1'));
  } catch {
    return [];
  }
}

/** @param stat Linux's /proc/stat: a line for each processor, its times in hundredths of a second, the stolen one eighth */
export function parseStolenMs(stat: string): number[] {
  const processors = stat.split('\n').filter((line) => /^cpu\d/.test(line));
  return processors.map((line) => Number(line.split(/\s+/)[8] ?? 0) * 10);
}

/** More suites than this do not fail by a stall alone. */
const mostRepeated = 3;

/**
 * The suites to run once more: all that failed, if the machine stood still while each of them ran. What they measured
 * then was the machine. A suite that failed on a machine that ran has failed.
 */
export function suitesToRepeat(results: readonly SuiteResult[], stalls: readonly Stall[]): SuiteResult[] {
  const failed = results.filter((suite) => countFailures(suite) > 0);
  const isExplained = failed.every((suite) => stallsDuring(suite, stalls).length > 0);
  return isExplained && failed.length <= mostRepeated ? failed : [];
}

/** Those while a suite ran. */
export function stallsDuring({ startedAt, endedAt }: SuiteResult, stalls: readonly Stall[]): Stall[] {
  return stalls.filter(({ from, to }) => from < endedAt && to > startedAt);
}
