import { commonSecrets, exitWithBadSettings, ledgerSettings, parseEnvironment } from '../runtime/index.ts';
import { ledgerAddress } from './ledger-address.ts';
import { migrate } from './migrate.ts';

const parsed = parseEnvironment(ledgerSettings, process.env, { secrets: commonSecrets, known: [] });
if (!parsed.ok) exitWithBadSettings('migrate', parsed.problems);

try {
  const { directUrl, pool } = ledgerAddress(parsed.settings);
  const applied = await migrate(directUrl, { roleTimeouts: pool.pooled === true });
  process.stdout.write(applied.length > 0 ? `Applied ${applied.join(', ')}.\n` : 'Nothing to do: up to date.\n');
} catch (error) {
  process.stderr.write(
    `The migration failed, and changed nothing: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
}
