import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { migrate } from '../migrate.ts';
import { withOnlineMigration } from './online-migration.ts';

/** A migration in a process of its own, which a test can kill. */
export type MigrationCalls = { migrate: (url: string) => Promise<string[]> };

answerCalls({ migrate: (url) => migrate(url, { migrations: withOnlineMigration }) } satisfies MigrationCalls);
