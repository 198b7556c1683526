#!/usr/bin/env node
import { existsSync } from 'node:fs';

// Plain JavaScript that an old Node.js can read too, so that it can say what is missing. In the repository the TypeScript
// sources run as they are, which needs a newer Node.js than the compiled files of the package.
const compiled = new URL('../lib/main.js', import.meta.url);
const isCompiled = existsSync(compiled);
const needed = isCompiled ? [22, 12] : [22, 18];
const [major, minor] = process.versions.node.split('.').map(Number);

if (major < needed[0] || (major === needed[0] && minor < needed[1])) {
  process.stderr.write(
    `enterprise-api needs Node.js ${needed.join('.')} or newer, and this is ${process.versions.node}. Install a newer one from https://nodejs.org.\n`,
  );
  process.exitCode = 1;
} else {
  await import(isCompiled ? compiled : new URL('../src/main.ts', import.meta.url));
}
