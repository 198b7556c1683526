import { createLogger, exitWithBadSettings, runService, systemClock } from '@enterprise-api/shared/runtime';
import { parseConfig } from './config.ts';
import { startApi } from './start.ts';

/** Shorter than a supervisor's grace period. Requests end within seconds, and cutting off a request loses nothing. */
const stopWithinMs = 18_000;

const parsed = parseConfig(process.env);
if (!parsed.ok) exitWithBadSettings('api', parsed.problems);
const log = createLogger('api', parsed.config.logLevel);
for (const name of parsed.warnings) log.warn({ setting: name }, 'unknown setting');
await runService(log, stopWithinMs, () => startApi(parsed.config, { log, clock: systemClock }));
