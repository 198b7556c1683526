import { setTimeout as pause } from 'node:timers/promises';
import { inParallel, startReceiver } from '@enterprise-api/testkit';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { apiEvent, post } from './load.ts';
import type { LoadedSideCalls } from './loaded-side.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';

let requests: RequestLog | undefined;
const inFlight = new Map<string, number>();
let mostInFlight = 0;

const calls: LoadedSideCalls = {
  start: async ({ certificate, answerMs }) => {
    const receiver = await startReceiver({ certificate });
    requests = createRequestLog(receiver);
    requests.respond(async ({ path }) => {
      const now = (inFlight.get(path) ?? 0) + 1;
      inFlight.set(path, now);
      mostInFlight = Math.max(mostInFlight, now);
      await pause(answerMs);
      inFlight.set(path, (inFlight.get(path) ?? 0) - 1);
      return {};
    });
    return { port: receiver.port };
  },
  flood: async ({ internalUrl, organizationIds, events }) => {
    const perPost = Math.min(1_000, events / organizationIds.length);
    let refused = 0;
    await inParallel(Array.from({ length: events / perPost }).keys(), 4, async (n) => {
      // With ids of their own: the events of a refused post may have been written all the same.
      const organizationId = organizationIds[n % organizationIds.length] ?? '';
      const batch = Array.from({ length: perPost }, (_, index) => apiEvent(organizationId, `flood-${n}-${index}`));
      while ((await post(internalUrl, batch)).status !== 202) {
        refused += 1;
        await pause(500);
      }
    });
    return refused;
  },
  log: () => {
    if (requests === undefined) throw new Error('The receiver was not started.');
    return { sent: [...requests.sent], changedBodies: requests.changedBodies, mostInFlight };
  },
};
answerCalls(calls);
