/** How Node.js writes a warning to standard error: `(node:4711) DeprecationWarning: …`. */
const nodeWarning = /^\(node:\d+\) (?:\[\w+\] )?\w*Warning: /;

const noted: string[] = [];

/** Remembers a line of a service's output when it is a warning of Node.js. */
export function noteNodeWarning(service: string, line: string): void {
  if (nodeWarning.test(line)) noted.push(`${service}: ${line}`);
}

/** The warnings of Node.js that services have written since the last call: each one is a defect of ours. */
export function takeNodeWarnings(): string[] {
  return noted.splice(0);
}
