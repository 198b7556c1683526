import { readFile } from 'node:fs/promises';
import { createDatabase, createDatabaseClock, ledgerAddress, requireLedger } from '@enterprise-api/shared/ledger';
import { selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  commonSecrets,
  commonSettings,
  exitWithBadSettings,
  ledgerSettings,
  parseEnvironment,
  systemClock,
} from '@enterprise-api/shared/runtime';
import { applyRecords } from './erasures/apply.ts';

// `enterprise-api ops erasures apply FILE` applies exported records to a restored ledger. Run it before workers and the
// API start (docs/operators/backup.md).
const rules = { secrets: commonSecrets, known: [] };
const parsed = parseEnvironment({ ...ledgerSettings, REDIS_URL: commonSettings.REDIS_URL }, process.env, rules);
if (!parsed.ok) exitWithBadSettings('apply-erasures', parsed.problems);
const [file] = process.argv.slice(2);

const { directUrl: url } = ledgerAddress(parsed.settings);
const db = createDatabase({ url, applicationName: 'enterprise-api-apply-erasures', poolSize: 1 });
const queue = selectQueueBackend({ redisUrl: parsed.settings.REDIS_URL, databaseUrl: url });
try {
  if (file === undefined) throw new Error('Name the file with the exported erasures.');
  await requireLedger(db);
  const parts = { db, queue, clock: createDatabaseClock(systemClock) };
  const { records, events } = await applyRecords(parts, () => readFile(file, 'utf8'));
  process.stdout.write(`${records} records were applied, and ${events} events erased. The services may start.\n`);
} catch (error) {
  const text = error instanceof Error ? error.message : 'unknown error';
  process.stderr.write(`Stopped before the end. Run the command again to continue. (${text})\n`);
  process.exitCode = 1;
} finally {
  await db.destroy();
}
