import { type SteadyLoad, steadily, until } from '@enterprise-api/testkit';
import { apiEvent, post } from '../faults/load.ts';

/** Emission at a steady rate, to one API after another, as a load balancer moves it. */
export interface MovingLoad extends AsyncDisposable {
  readonly accepted: number;
  /** Statuses other than 202. */
  readonly refused: readonly number[];
  /** Sends to these from now on, in turn; resolves when no request to another one is under way. */
  sendTo(...urls: string[]): Promise<void>;
  /** Resolves when so many more events are accepted. */
  accepts(count: number): Promise<void>;
  stop: SteadyLoad['stop'];
}

const perSecond = 20;

/** @param url an API's internal listener */
export function startMovingLoad(url: string, organizationId: string): MovingLoad {
  let urls = [url];
  let turn = 0;
  let accepted = 0;
  const refused: number[] = [];
  const underWay = new Map<string, number>();
  const count = (target: string, change: number) => underWay.set(target, (underWay.get(target) ?? 0) + change);
  const load = steadily(perSecond, async () => {
    turn += 1;
    const target = urls[turn % urls.length] ?? url;
    count(target, 1);
    const { status } = await post(target, [apiEvent(organizationId)]);
    count(target, -1);
    if (status === 202) accepted += 1;
    else refused.push(status);
  });
  const othersAreDone = () => [...underWay].every(([target, requests]) => requests === 0 || urls.includes(target));
  return {
    get accepted() {
      return accepted;
    },
    refused,
    sendTo: async (...next) => {
      urls = next;
      await until('no request is under way elsewhere', othersAreDone, { withinMs: 30_000 });
    },
    accepts: async (more) => {
      const enough = accepted + more;
      await until(`${more} accepted`, () => accepted, { holds: (found) => found >= enough, withinMs: 60_000 });
    },
    stop: load.stop,
    [Symbol.asyncDispose]: load[Symbol.asyncDispose],
  };
}
