import { createPartitionLoop, type Database, ledgerAddress } from '@enterprise-api/shared/ledger';
import { createLimitedWarning, type Logger, type Loop } from '@enterprise-api/shared/runtime';
import type { Config } from '../config.ts';
import type { FanOut } from '../fan-out/fan-out.ts';
import { createParkedRetries } from '../fan-out/parked-events.ts';
import { createRetentionLoop } from '../retention/loop.ts';
import { createSecretEraser } from './secret-eraser.ts';

/** What every worker does beside deliveries, by name. */
export function createMaintenanceLoops(
  { config, db, log }: { config: Config; db: Database; log: Logger },
  fanOut: Pick<FanOut, 'retryParkedEvents'>,
): Record<string, Loop> {
  const warn = (message: string) => createLimitedWarning(log, message);
  return {
    'partition loop': createPartitionLoop(db, warn('partitions could not be created')),
    'secret eraser': createSecretEraser(db, warn('secrets could not be erased')),
    retention: createRetentionLoop({
      // Its lock belongs to a session.
      url: ledgerAddress(config).directUrl,
      applicationName: 'enterprise-api-retention',
      periods: config,
      log,
      onError: warn('retention failed; tried again in a minute'),
    }),
    'retries of parked events': createParkedRetries(
      () => fanOut.retryParkedEvents(),
      warn('parked events could not be tried again'),
    ),
  };
}
