import { readFileSync } from 'node:fs';
import { InvalidArgumentError } from 'commander';
import { Failure } from '../failure.ts';
import type { Io } from '../io.ts';
import { readAll, readBytes } from './ask.ts';

// Parsers for option values. If one throws, commander adds the option's name.

/** For repeatable options. Each value may be a comma-separated list. */
export function listOf(value: string, previous: string[] = []): string[] {
  const items = value.split(',').map((item) => item.trim());
  if (items.includes('')) throw new InvalidArgumentError('The list has an empty entry.');
  return [...previous, ...items];
}

/** For repeatable options. */
export function each(value: string, previous: string[] = []): string[] {
  return [...previous, value];
}

export function wholeNumber(min: number, max: number) {
  return (value: string): number => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`);
  };
}

const unitMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `90s`, `15m`, `2h`, `7d` → milliseconds. */
export function durationMs(value: string): number {
  const [, count = '', unit = ''] = /^(\d{1,9})(ms|s|m|h|d)$/.exec(value) ?? [];
  if (count === '') throw new InvalidArgumentError('It must be a number and ms, s, m, h or d, such as 2h.');
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

/**
 * Parses RFC 3339, a date, or an age such as `2h`.
 *
 * @returns RFC 3339 in UTC
 */
export const instant = (now: () => number = Date.now) => parseTime((ms) => now() - ms, 'how long ago');

/** Parses RFC 3339, a date, or a time from now such as `7d`. */
export const instantAhead = (now: () => number = Date.now) => parseTime((ms) => now() + ms, 'how long from now');

function parseTime(timeOf: (durationMs: number) => number, meaning: string) {
  return (value: string): string => {
    if (/^\d+(ms|s|m|h|d)$/.test(value)) return new Date(timeOf(durationMs(value))).toISOString();
    const isInstant = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/.test(value);
    const time = isInstant ? Date.parse(value) : Number.NaN;
    if (!Number.isNaN(time)) return new Date(time).toISOString();
    throw new InvalidArgumentError(`It must be a time such as 2026-11-22T08:00:00Z, a day, or ${meaning}, such as 2h.`);
  };
}

/** Returns an option's text: the value itself, the content of `@file`, or standard input for `-`. */
export async function textOf(value: string, io: Io): Promise<string> {
  if (value === '-') return await readAll(io);
  if (!value.startsWith('@')) return value;
  return readFile(value.slice(1)).toString('utf8');
}

/** Returns the content of a file, or standard input for `-`. */
export async function bytesOf(path: string, io: Io): Promise<Buffer> {
  return path === '-' ? await readBytes(io) : readFile(path);
}

/** @throws {Failure} that names the file and the reason */
function readFile(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new Failure('usage', `${path} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
}
