import { Failure } from '../failure.ts';

/** Reads headers from a JSON object, or from lines such as `Name: value`. A line of another form is left out. */
export function readHeaders(text: string): Record<string, string | string[]> {
  if (text.trimStart().startsWith('{')) return fromJson(text);
  const lines = text.split(/\r?\n/).flatMap((line) => {
    const [, name, value] = /^([^\s:]+):\s*(.*?)\s*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  if (lines.length > 0) return Object.fromEntries(lines);
  throw new Failure('usage', 'The file of --headers has no header.', 'Such as: webhook-id: evt_…');
}

function fromJson(text: string): Record<string, string | string[]> {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('usage', `The file of --headers is not JSON: ${(error as Error).message}.`);
  }
}
