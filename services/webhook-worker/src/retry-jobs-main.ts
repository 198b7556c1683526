import { ledgerAddress } from '@enterprise-api/shared/ledger';
import { jobs, retryFailedJobs, selectQueueBackend } from '@enterprise-api/shared/queue';
import {
  commonSecrets,
  commonSettings,
  exitWithBadSettings,
  ledgerSettings,
  parseEnvironment,
} from '@enterprise-api/shared/runtime';

// Retries the failed jobs of `event-writes`. Run it after the cause of the failures is fixed
// (docs/operators/runbooks.md#jobsfail).
const rules = { secrets: commonSecrets, known: [] };
const parsed = parseEnvironment({ ...ledgerSettings, REDIS_URL: commonSettings.REDIS_URL }, process.env, rules);
if (!parsed.ok) exitWithBadSettings('retry-jobs', parsed.problems);
const { directUrl: databaseUrl } = ledgerAddress(parsed.settings);
const backend = selectQueueBackend({ redisUrl: parsed.settings.REDIS_URL, databaseUrl });

const retried = await retryFailedJobs(backend, 'writeEvent');
if (retried === null) {
  process.stderr.write('The queue did not answer. Nothing is lost: run the command again.\n');
  process.exitCode = 1;
} else {
  // Name the queue's backend: without REDIS_URL, the command reads another queue than services with REDIS_URL.
  const place = backend.kind === 'redis' ? 'Redis' : 'PostgreSQL (no REDIS_URL)';
  process.stdout.write(
    `${jobs.writeEvent.queue} in ${place}: ${retried} failed jobs are waiting for a worker again.\n`,
  );
}
