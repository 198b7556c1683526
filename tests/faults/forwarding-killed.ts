import type { ServerResponse } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { createApiClient, type Fleet, inParallel, startFleet } from '@enterprise-api/testkit';
import type { Finding } from './finding.ts';
import { openFaultStage, type Stores } from './stage.ts';
import { exchange, startFaultyUpstream } from './upstreams.ts';

/** R16: APIs are killed with -9, and replaced by SIGTERM, while they forward. */
export interface ForwardingKills {
  kills: number;
  requests: number;
  clients: number;
}

/** Sent in chunks with a pause between them, so that a kill falls into the middle of many. */
const parts = 8;
const partBytes = 16 * 1_024;

export async function killForwarding(stores: Stores, size: ForwardingKills): Promise<Finding> {
  const seen = new Map<string, number>();
  await using upstream = await startFaultyUpstream((request, response) => {
    const id = request.url ?? '';
    seen.set(id, (seen.get(id) ?? 0) + 1);
    request.resume().once('end', () => void answerInParts(response));
  });
  const settings = { API_UPSTREAMS: `consultations=${upstream.url}`, API_RATE_LIMITS: 'enterprise=100000000' };
  await using stage = await openFaultStage(stores, { ...settings, API_UPSTREAM_CONCURRENCY: '1000' });
  await using fleet = await startFleet(2, () => stage.startApi());
  const client = createApiClient(memberOf(fleet, 0));
  const { id } = await client.createOrganization();
  const { secret: key } = await client.createKey(id);
  const counts = { whole: 0, cut: 0, half: 0, refused: 0 };
  let finished = 0;
  const killing = killInTurn(fleet, size, () => finished / size.requests);
  await inParallel(Array.from({ length: size.requests }).keys(), size.clients, async (n) => {
    const url = `${memberOf(fleet, n % 2).url}/v1/consultations/${n}`;
    const { status, isWhole, body } = await exchange('POST', url, key, 'x'.repeat(1_000));
    if (status !== 200) {
      counts.refused += 1;
      // As a client would: without it, most requests are spent on the ports of processes that are starting.
      await pause(500);
    } else if (!isWhole) counts.cut += 1;
    else if (body.length === parts * partBytes) counts.whole += 1;
    else counts.half += 1;
    finished += 1;
  });
  await killing;
  await fleet.stop();
  const twice = [...seen.values()].filter((count) => count > 1).length;
  return {
    lost: counts.half,
    duplicates: twice,
    figures: {
      requests: size.requests,
      kills: fleet.kills.length,
      replaced: size.kills - fleet.kills.length,
      ...counts,
    },
    broken: [
      ...(counts.half === 0 ? [] : [`${counts.half} half answers were taken for whole ones`]),
      ...(twice === 0 ? [] : [`${twice} requests reached the service twice`]),
      ...(counts.whole > size.requests / 2 ? [] : [`only ${counts.whole} of ${size.requests} requests were answered`]),
    ],
  };
}

async function answerInParts(response: ServerResponse): Promise<void> {
  response.on('error', () => undefined);
  for (let part = 0; part < parts && !response.destroyed; part++) {
    response.write(Buffer.alloc(partBytes, 'x'));
    await pause(5);
  }
  response.end();
}

/** Kills and replaces the two in turn, evenly over the load. */
async function killInTurn(fleet: Fleet, { kills }: ForwardingKills, progress: () => number): Promise<void> {
  for (let kill = 0; kill < kills; kill++) {
    while (progress() < (kill + 0.5) / (kills + 1)) await pause(5);
    if (kill % 3 === 2) await fleet.replace(kill % 2);
    else await fleet.crash(kill % 2);
  }
}

function memberOf({ members }: Fleet, place: number) {
  const member = members[place];
  if (member === undefined) throw new Error(`The fleet has no place ${place}.`);
  return member;
}
