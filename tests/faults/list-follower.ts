import { setTimeout as pause } from 'node:timers/promises';
import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient, type ServiceProcess } from '@enterprise-api/testkit';
import { followList } from '../drills/event-list.ts';

/** A client that reads each event once, with the cursor of the page before. */
export interface ListFollower extends AsyncDisposable {
  /** Public ids of the events that it was shown. */
  readonly shown: ReadonlySet<string>;
}

const everyMs = 100;

/** Follows `GET /v1/events?order=asc` as an organization. While the API answers with errors, it asks again. */
export async function followEvents(api: ServiceProcess, organizationId: string): Promise<ListFollower> {
  const { secret: key } = await createApiClient(api).createKey(toPublicId('org', organizationId));
  const client = createApiClient(api, { key });
  const shown = new Set<string>();
  let isStopped = false;
  let cursor: string | undefined;
  const readOn = async () => {
    const page = await followList(client, cursor);
    for (const id of page.ids) shown.add(id);
    cursor = page.cursor;
  };
  const follow = async () => {
    while (!isStopped) {
      await readOn().catch(() => undefined);
      await pause(everyMs);
    }
  };
  const following = follow();
  const stop = async () => {
    isStopped = true;
    await following;
  };
  return { shown, [Symbol.asyncDispose]: stop };
}
