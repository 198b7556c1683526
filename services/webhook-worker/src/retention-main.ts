import { ledgerAddress, requireLedger } from '@enterprise-api/shared/ledger';
import {
  commonSecrets,
  exitWithBadSettings,
  historyProblems,
  ledgerSettings,
  parseEnvironment,
} from '@enterprise-api/shared/runtime';
import { withRetentionLock } from './retention/loop.ts';
import { describePeriods, planRetention } from './retention/plan.ts';
import { runRetention } from './retention/run.ts';
import { retentionSettings } from './retention/settings.ts';

// `make retention` removes expired data, as a worker does every hour. With ARGS=--dry-run it only prints its plan.
const rules = { secrets: commonSecrets, known: [] };
const parsed = parseEnvironment({ ...ledgerSettings, ...retentionSettings }, process.env, rules, historyProblems);
if (!parsed.ok) exitWithBadSettings('retention', parsed.problems);
const { RETENTION_BODIES, RETENTION_HISTORY, RETENTION_AUDIT } = parsed.settings;
const periods = { RETENTION_BODIES, RETENTION_HISTORY, RETENTION_AUDIT };
const { directUrl: url } = ledgerAddress(parsed.settings);

const say = (line: string) => void process.stdout.write(`${line}\n`);
const log = (fields: Record<string, unknown>, message: string) => say(`${message} ${JSON.stringify(fields)}`);
const args = process.argv.slice(2);
const isDryRun = args.includes('--dry-run');
const unknown = args.filter((arg) => arg !== '--dry-run');
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());

try {
  if (unknown.length > 0) throw new Error(`Unknown option: ${unknown.join(' ')}. Known: --dry-run`);
  const done = await withRetentionLock(url, async (db) => {
    await requireLedger(db);
    say(describePeriods(periods, (name) => process.env[name] !== undefined));
    if (isDryRun) {
      for (const line of await planRetention(db, periods)) say(line);
      return true;
    }
    const { signal } = stopping;
    const { kept, isComplete } = await runRetention({ db, periods, log: { info: log, warn: log }, signal });
    for (const { month, pending } of kept) say(`${month} is kept: ${pending} pending in it.`);
    say(isComplete ? 'Done.' : 'Not done yet: a table is in use, or the command was stopped. Run it again.');
    return isComplete;
  });
  if (done === null) say('Another process is removing expired data. This command did nothing.');
  if (done !== true) process.exitCode = 1;
} catch (error) {
  const text = error instanceof Error ? error.message : 'unknown error';
  process.stderr.write(`Stopped before the end. Run the command again to continue. (${text})\n`);
  process.exitCode = 1;
}
