import { readFile } from 'node:fs/promises';
import { createDatabase, ledgerAddress, requireLedger } from '@enterprise-api/shared/ledger';
import { commonSecrets, exitWithBadSettings, ledgerSettings, parseEnvironment } from '@enterprise-api/shared/runtime';
import { applyRecords } from './erasures/apply.ts';

// `enterprise-api ops erasures apply FILE` runs it in a restored ledger, before workers and API start
// (docs/operators/backup.md).
const rules = { secrets: commonSecrets, known: [] };
const parsed = parseEnvironment(ledgerSettings, process.env, rules);
if (!parsed.ok) exitWithBadSettings('apply-erasures', parsed.problems);
const [file] = process.argv.slice(2);

const { directUrl: url } = ledgerAddress(parsed.settings);
const db = createDatabase({ url, applicationName: 'enterprise-api-apply-erasures', poolSize: 1 });
try {
  if (file === undefined) throw new Error('Name the file with the exported erasures.');
  await requireLedger(db);
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '');
  const { events } = await applyRecords(db, lines);
  process.stdout.write(`${lines.length} records were applied, and ${events} events erased. The services may start.\n`);
} catch (error) {
  const text = error instanceof Error ? error.message : 'unknown error';
  process.stderr.write(`Stopped before the end. Run the command again to continue. (${text})\n`);
  process.exitCode = 1;
} finally {
  await db.destroy();
}
