import { toPublicId } from '@enterprise-api/shared/runtime';
import {
  inParallel,
  queueBackends,
  type ServiceProcess,
  sendRequest,
  startFleet,
  until,
} from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { auditWork, countWork, type WorkAudit } from '../faults/work-audit.ts';
import { createTestSigningKey } from './identity.ts';
import { openTestStage, type TestStage } from './stage.ts';

const signing = createTestSigningKey();
const kills = 3;
/** Requests before each kill; a fifth is canceled. */
const portion = 30;
const nothingWrong: WorkAudit = { endedWithoutEvent: 0, eventsBeyondFirst: 0, eventsWithoutEnd: 0 };

describe.each(queueBackends())('examples/consultations, killed at any moment, queue on $name', (backend) => {
  let stage: TestStage;
  let api: ServiceProcess;

  beforeAll(async () => {
    stage = await openTestStage(backend);
    api = await stage.startApi({ IDENTITY_SIGNING_KEYS: signing.setting });
    await stage.startWorker();
  });
  afterAll(() => stage.close());

  it('emits exactly one event for work that ended, and none for work that did not', async () => {
    const { organizationId } = await stage.subscribe();
    const settings = { API_INTERNAL_URL: api.internalUrl, WORK_MS: '40' };
    // Two processes end the work of one table.
    await using fleet = await startFleet(2, () => stage.startConsultations(settings));
    const customer = await createCustomer(toPublicId('org', organizationId), fleet.members);
    const ended = new AbortController();
    const audits: WorkAudit[] = [];
    const auditing = (async () => {
      while (!ended.signal.aborted) audits.push(await auditWork(stage.db));
    })();
    for (let kill = 0; kill < kills; kill++) {
      const numbers = Array.from({ length: portion }, (_, index) => kill * portion + index);
      const some = (await countEnded(stage)) + Math.floor((Math.random() * portion) / 2);
      const asking = inParallel(numbers, 6, (number) => customer.ask(number));
      await until('some more ends', async () => (await countEnded(stage)) >= some, { everyMs: 1, withinMs: 60_000 });
      await Promise.all([fleet.crash(kill % 2), asking]);
    }
    await until('the end of all work', async () => ((await countWork(stage.db)).running ?? 0) === 0, {
      withinMs: 60_000,
    });
    const { canceled = 0 } = await countWork(stage.db);
    expect(canceled).toBe(customer.canceled.length);
    const endedCount = await countEnded(stage);
    expect(endedCount + canceled).toBe(kills * portion);
    const delivered = (rows: { status: string }[]) =>
      rows.length === endedCount && rows.every(({ status }) => status === 'succeeded');
    await stage.untilDeliveries(organizationId, delivered, 60_000);
    ended.abort();
    await auditing;
    audits.push(await auditWork(stage.db));
    expect(audits.filter((audit) => Object.values(audit).some((count) => count !== 0))).toEqual([]);
    expect(audits.at(-1)).toEqual(nothingWrong);
  });
});

async function countEnded(stage: TestStage): Promise<number> {
  const { running: _running, canceled: _canceled, ...ended } = await countWork(stage.db);
  return Object.values(ended).reduce((sum, count) => sum + count, 0);
}

/** Asks for consultations and batches, some of which fail, and cancels every fifth just when it may end. */
async function createCustomer(organization: string, services: readonly ServiceProcess[]) {
  const tokens = {
    consultations: await signing.tokenFor(organization, 'consultations'),
    batches: await signing.tokenFor(organization, 'batches'),
  };
  const question = 'Is it plausible?';
  const bodies = {
    consultations: (number: number) => ({ question, fail: number % 3 === 0 }),
    batches: (number: number) => ({ items: [0, 1, 2].map((item) => ({ question, fail: number % 4 > item })) }),
  };
  /** Until one of the services answers: each of them may be dead or about to die. */
  const send = (area: keyof typeof tokens, path: string, number: number, body: string | undefined) => {
    let tries = number;
    return until(
      `an answer to ${path}`,
      () => {
        tries += 1;
        const headers = {
          'x-identity-token': tokens[area],
          'content-type': 'application/json',
          'idempotency-key': `${area}-${number}`,
        };
        return sendRequest({ method: 'POST', url: services[tries % services.length]?.url + path, headers, body });
      },
      { withinMs: 60_000 },
    );
  };
  const canceled: string[] = [];
  return {
    /** What the service said it canceled. */
    canceled,
    ask: async (number: number) => {
      const area = number % 2 === 0 ? 'consultations' : 'batches';
      const asked = await send(area, `/v1/${area}`, number, JSON.stringify(bodies[area](number)));
      expect(asked.status).toBe(201);
      if (number % 5 !== 0) return;
      const answer = await send(area, `/v1/${area}/${asked.body.id}/cancel`, number, undefined);
      expect([200, 409]).toContain(answer.status);
      if (answer.status === 200) canceled.push(asked.body.id);
    },
  };
}
