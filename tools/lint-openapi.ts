import { readFileSync } from 'node:fs';
import core, { type RulesetDefinition } from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

// The two packages are of the same project, but their types differ in what may be left out.
const recommended = rulesets.oas as unknown as RulesetDefinition;

/** A command: lints docs/openapi.json and docs/internal-openapi.json with all rules that Spectral recommends. */
async function main(): Promise<void> {
  const spectral = new core.Spectral();
  spectral.setRuleset({ extends: [[recommended, 'recommended']] });
  for (const file of ['docs/openapi.json', 'docs/internal-openapi.json']) {
    const text = readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
    const findings = await spectral.run(new core.Document(text, parsers.Json, file));
    for (const { code, message, path, range } of findings) {
      console.error(`${file}:${range.start.line + 1} ${code}: ${message} (${path.join('.')})`);
      process.exitCode = 1;
    }
  }
}

await main();
