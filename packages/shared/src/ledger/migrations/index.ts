import type { Migration } from 'kysely/migration';
import * as ledger from './2026-11-ledger.ts';
import * as subjects from './2026-11-subjects.ts';
import * as subjectsInKeys from './2026-11-subjects-in-keys.ts';
import * as versions from './2026-11-versions.ts';
import * as versionsOfWebhooks from './2026-11-versions-of-webhooks.ts';
import * as webhookMinutes from './2026-11-webhook-minutes.ts';
import * as webhookNotices from './2026-11-webhook-notices.ts';
import * as webhookReplays from './2026-11-webhook-replays.ts';
import * as webhooksControlled from './2026-11-webhooks-controlled.ts';
import * as consoleSessions from './2026-12-console-sessions.ts';
import * as webhookHeaders from './2026-12-webhook-headers.ts';
import * as webhooksRecovering from './2026-12-webhooks-recovering.ts';
import * as webhooksReplayed from './2026-12-webhooks-replayed.ts';
import * as webhooksResponding from './2026-12-webhooks-responding.ts';
import * as webhooksSucceeding from './2026-12-webhooks-succeeding.ts';
import * as webhooksTotalled from './2026-12-webhooks-totalled.ts';
import * as withoutStatistics from './2026-12-without-statistics.ts';

/**
 * All migrations, which run in the order of their names. Names must never change, because each database stores the
 * names of its applied migrations.
 */
export const migrations: Record<string, Migration> = {
  '2026-11-ledger': ledger,
  '2026-11-subjects': subjects,
  '2026-11-subjects-in-keys': subjectsInKeys,
  '2026-11-versions': versions,
  '2026-11-versions-of-webhooks': versionsOfWebhooks,
  '2026-11-webhook-minutes': webhookMinutes,
  '2026-11-webhook-notices': webhookNotices,
  '2026-11-webhook-replays': webhookReplays,
  '2026-11-webhooks-controlled': webhooksControlled,
  '2026-12-console-sessions': consoleSessions,
  '2026-12-webhook-headers': webhookHeaders,
  '2026-12-webhooks-recovering': webhooksRecovering,
  '2026-12-webhooks-replayed': webhooksReplayed,
  '2026-12-webhooks-responding': webhooksResponding,
  '2026-12-webhooks-succeeding': webhooksSucceeding,
  '2026-12-webhooks-totalled': webhooksTotalled,
  '2026-12-without-statistics': withoutStatistics,
};
