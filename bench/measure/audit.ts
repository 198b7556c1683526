import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import type { Database } from '@enterprise-api/shared/ledger';
import { auditLedger, testWebhookSecret } from '@enterprise-api/testkit';
import { idLength, type LoadResult } from '../generator/load.ts';
import type { Received, Sample } from '../receiver/calls.ts';

/** What a run must deliver; otherwise it is void. */
export interface Expectation {
  /** How many webhooks every event goes to. */
  webhooksPerEvent: number;
  /** Webhooks that fail or hang on purpose. */
  excepted?: ReadonlySet<number>;
}

/** The problems that make a run void. */
export async function audit(load: LoadResult, received: Received, expected: Expectation): Promise<string[]> {
  const refused = load.statuses.filter((status) => status !== 202).length;
  const accepted = idsOf(load.eventIds);
  const pairs = acceptedPairs(received, expected.excepted);
  const wanted = accepted.length * (expected.webhooksPerEvent - (expected.excepted?.size ?? 0));
  const known = new Set(accepted);
  const strange = [...pairs].filter((pair) => !known.has(pair.slice(0, idLength))).length;
  const verdicts = await Promise.all(received.samples.map(isSigned));
  const wrong = verdicts.filter((verdict) => !verdict).length;
  return [
    ...(refused > 0 ? [`${refused} of ${load.statuses.length} requests were not answered 202`] : []),
    ...(pairs.size !== wanted ? [`${pairs.size} pairs of event and webhook were received, not ${wanted}`] : []),
    ...(strange > 0 ? [`${strange} pairs are of events that were not emitted`] : []),
    ...(received.samples.length === 0 ? ['no signature was verified'] : []),
    ...(wrong > 0 ? [`${wrong} of ${received.samples.length} signatures do not verify`] : []),
  ];
}

/** What is wrong in the ledger when everything had to be delivered. */
export async function ledgerProblems(db: Database, expected: number): Promise<string[]> {
  const { statuses, ...mustBeZero } = await auditLedger(db);
  const succeeded = statuses.succeeded ?? 0;
  return [
    ...Object.entries(mustBeZero).flatMap(([name, count]) => (count > 0 ? [`the ledger has ${count} ${name}`] : [])),
    ...(succeeded !== expected ? [`the ledger has ${succeeded} succeeded deliveries, not ${expected}`] : []),
  ];
}

export function idsOf(bytes: Uint8Array): string[] {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
  return Array.from({ length: text.length / idLength }, (_, index) =>
    text.slice(index * idLength, (index + 1) * idLength),
  );
}

/** Event and webhook of every request that was answered 200, each pair once. */
function acceptedPairs(received: Received, excepted: ReadonlySet<number> | undefined): Set<string> {
  const pairs = new Set<string>();
  idsOf(received.eventIds).forEach((id, index) => {
    const webhook = received.webhooks[index] as number;
    if (received.statuses[index] === 200 && !excepted?.has(webhook)) pairs.add(`${id}${webhook}`);
  });
  return pairs;
}

/** Whether both signatures of a request verify. */
async function isSigned({ head, body }: Sample): Promise<boolean> {
  const headers = Object.fromEntries(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  );
  const { 'webhook-signature': _standard, ...withoutStandard } = headers;
  const verify = (these: Record<string, string>, requireTimestamp: boolean) =>
    verifyWebhook({ headers: these, rawBody: body, secret: testWebhookSecret, requireTimestamp });
  return Promise.all([verify(headers, true), verify(withoutStandard, false)]).then(
    () => true,
    () => false,
  );
}
