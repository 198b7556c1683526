import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isOnline, migrations } from '@enterprise-api/shared/ledger';
import { releasedVersions } from '../release/changelog.ts';
import { migrationProblems } from './rules.ts';
import { statementsOf } from './statements.ts';

// Part of `make check`: a migration lets the services of the version before go on (docs/upgrading.md).
const changelog = readFileSync(fileURLToPath(new URL('../../CHANGELOG.md', import.meta.url)), 'utf8');
const released = releasedVersions(changelog).map(({ version }) => version);
const problems: string[] = [];

for (const [name, migration] of Object.entries(migrations)) {
  const statements = isOnline(migration) ? [] : await statementsOf(migration);
  const said = (what: string) => (what in migration ? String(Reflect.get(migration, what)) : undefined);
  const [unusedSince, triggersAreSafe] = [said('unusedSince'), said('triggersAreSafe')];
  problems.push(...migrationProblems({ name, statements, unusedSince, triggersAreSafe, released }));
}

for (const problem of problems) console.error(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
