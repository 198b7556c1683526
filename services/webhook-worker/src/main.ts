import { createLogger, exitWithBadSettings, runService } from '@enterprise-api/shared/runtime';
import { parseConfig, stopWithinMs } from './config.ts';
import { startWorker } from './worker.ts';

const parsed = parseConfig(process.env);
if (!parsed.ok) exitWithBadSettings('webhook-worker', parsed.problems);

const config = parsed.settings;
const log = createLogger('webhook-worker', config.LOG_LEVEL);
for (const name of parsed.warnings) log.warn({ name }, 'unknown setting, ignored');
await runService(log, stopWithinMs(config), (giveUp) => startWorker(config, log, giveUp));
