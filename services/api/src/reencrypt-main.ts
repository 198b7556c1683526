import { createDatabase, ledgerAddress, requireLedger } from '@enterprise-api/shared/ledger';
import { commonSecrets, exitWithBadSettings, ledgerSettings, parseEnvironment } from '@enterprise-api/shared/runtime';
import { keyRingSetting } from '@enterprise-api/shared/security';
import { isFirstKeyInUse, reencrypt } from './reencrypt/reencrypt.ts';

// `npm run reencrypt` encrypts all encrypted values again, under the first key of SECRETS_ENCRYPTION_KEYS.
// --only-key-in-use refuses a first key that no service encrypts with yet. Use this option if the command has other
// settings than a service.
const shape = { ...ledgerSettings, SECRETS_ENCRYPTION_KEYS: keyRingSetting };
const parsed = parseEnvironment(shape, process.env, { secrets: commonSecrets, known: [] });
if (!parsed.ok) exitWithBadSettings('reencrypt', parsed.problems);
const { SECRETS_ENCRYPTION_KEYS: ring } = parsed.settings;
const { directUrl: url } = ledgerAddress(parsed.settings);

const say = (line: string) => void process.stdout.write(`${line}\n`);
const pause = () => new Promise((resolve) => setTimeout(resolve, 200));
const db = createDatabase({ url, applicationName: 'enterprise-api-reencrypt', poolSize: 1 });
const args = process.argv.slice(2);
const unknown = args.filter((arg) => arg !== '--only-key-in-use');

try {
  if (unknown.length > 0) throw new Error(`Unknown option: ${unknown.join(' ')}. Known: --only-key-in-use`);
  await requireLedger(db);
  if (args.includes('--only-key-in-use') && !(await isFirstKeyInUse(db, ring))) {
    exitWithBadSettings('reencrypt', [
      `SECRETS_ENCRYPTION_KEYS: no secret opens with its first key, ${ring[0].id}, so no service uses that key yet. ` +
        'Make it the first key of every process. Run the command again after a webhook was created or its secret rotated, or run it in a container of the API',
    ]);
  }
  const onProgress = (name: string, changed: number, toDo: number) => say(`${name}: ${changed} of ${toDo}`);
  for (const { name, changed, unreadable, left } of await reencrypt(db, ring, { onProgress, pause })) {
    say(`${name}: ${changed} encrypted again under key ${ring[0].id}, ${left} left, ${unreadable} unreadable.`);
    if (unreadable > 0) say(`  ${unreadable} open with no key of the ring. Add the key that encrypted them.`);
    if (left > 0)
      say(
        `  ${left} still use an older key. Make ${ring[0].id} the first key of every process, then run the command again.`,
      );
    if (unreadable + left > 0) process.exitCode = 1;
  }
} catch (error) {
  const text = error instanceof Error ? error.message : 'unknown error';
  process.stderr.write(`Stopped before the end. Committed batches are kept; run the command again. (${text})\n`);
  process.exitCode = 1;
} finally {
  await db.destroy();
}
