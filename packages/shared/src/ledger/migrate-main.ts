import { commonSecrets, commonSettings, exitWithBadSettings, parseEnvironment } from '../runtime/index.ts';
import { migrate } from './migrate.ts';

// `npm run migrate`: brings DATABASE_URL up to this version and says what it did.
const { DATABASE_URL } = commonSettings;
const parsed = parseEnvironment({ DATABASE_URL }, process.env, { secrets: commonSecrets, known: [] });
if (!parsed.ok) exitWithBadSettings('migrate', parsed.problems);

try {
  const applied = await migrate(parsed.settings.DATABASE_URL);
  process.stdout.write(applied.length > 0 ? `Applied ${applied.join(', ')}.\n` : 'Nothing to do: up to date.\n');
} catch (error) {
  process.stderr.write(
    `The migration failed, and left nothing behind: ${error instanceof Error ? error.message : String(error)}\n`,
  );
  process.exitCode = 1;
}
