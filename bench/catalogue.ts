import { direct } from './baselines/direct.ts';
import { expressRoute } from './baselines/express.ts';
import { queueAndGot, queueAndInserts } from './baselines/queue.ts';
import { receiverAlone } from './baselines/receiver-alone.ts';
import type { Workload } from './workload.ts';
import { age } from './workloads/age.ts';
import { apiEvents, apiMe } from './workloads/api.ts';
import { backlog } from './workloads/backlog.ts';
import { byRate } from './workloads/by-rate.ts';
import { closing, erasing } from './workloads/erasing.ts';
import { failingWebhooks } from './workloads/failing.ts';
import { fanOut, single, tenants } from './workloads/full-load.ts';
import { growth } from './workloads/growth.ts';
import { hangingWebhook } from './workloads/hanging.ts';
import { held } from './workloads/held.ts';
import { large } from './workloads/large.ts';
import { latency } from './workloads/latency.ts';
import { panels } from './workloads/panels.ts';

/** All workloads and baselines. `seconds`: the approximate duration in the short form and in full. */
export const catalogue = {
  W1: { title: 'single: 1 organization × 1 webhook', run: single, seconds: [10, 30] },
  W2: { title: 'fan-out: 1 × 100 at 100 addresses', run: fanOut, seconds: [13, 35] },
  B1: { title: 'undici and HMAC in a loop', run: direct, seconds: [5, 10] },
  B2: { title: 'BullMQ and got, no database', run: queueAndGot, seconds: [11, 30] },
  B3: { title: 'BullMQ, undici, batched inserts', run: queueAndInserts, seconds: [6, 15] },
  W3: { title: 'tenants: 1,000 × 1 at 1,000 addresses', run: tenants, seconds: [14, 35] },
  W7a: { title: 'POST /internal/v1/events', run: apiEvents, seconds: [9, 20] },
  W7b: { title: 'GET /v1/me', run: apiMe, seconds: [6, 12] },
  B4: { title: 'Express route, cached key, JSON', run: expressRoute, seconds: [5, 10] },
  W4: { title: 'failing: 10 of 100 always 503', run: failingWebhooks, seconds: [13, 35] },
  W5: { title: 'hanging: 1 of 100 never answers', run: hangingWebhook, seconds: [26, 60] },
  W6: { title: 'large: 20 KiB payloads', run: large, seconds: [14, 35] },
  W9: { title: 'backlog: drained by a new worker', run: backlog, seconds: [13, 35] },
  W1L: { title: 'latency: W1 by the clock', run: latency, seconds: [26, 90] },
  W1C: { title: 'ordinary day: W1 by the clock at six rates', run: byRate, seconds: [60, 190] },
  W10: { title: 'growth: rows that are there already', run: growth, seconds: [18, 450] },
  W10b: { title: 'age: 4 partitions and 27', run: age, seconds: [40, 120] },
  W13: { title: 'erasing: W1 beside an erasure', run: erasing, seconds: [80, 240] },
  W13c: { title: 'closing: W1 beside a closing', run: closing, seconds: [60, 120] },
  W11: { title: 'history of ten million rows', run: panels, seconds: [90, 900] },
  W12: { title: 'held: 1,000,000 deliveries paused or limited', run: held, seconds: [60, 150] },
  B0: { title: 'generator to receiver', run: receiverAlone, seconds: [4, 8] },
} satisfies Record<string, Workload & { seconds: [short: number, full: number] }>;

export type RunId = keyof typeof catalogue;
