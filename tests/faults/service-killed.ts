import { fromPublicId } from '@enterprise-api/shared/runtime';
import {
  type ApiClient,
  createApiCustomer,
  freePort,
  type HttpAnswer,
  inParallel,
  startFleet,
  testKeyRing,
  until,
} from '@enterprise-api/testkit';
import { conclude, type Finding, untilSettled } from './finding.ts';
import { type FaultStage, openFaultStage, type Stores } from './stage.ts';
import { auditWork, countWork, type WorkAudit } from './work-audit.ts';

/** R18: an internal service is killed with -9 while its work ends. */
export interface ServiceKills {
  kills: number;
  consultations: number;
  clients: number;
  settleWithinMs: number;
}

const startWithinMs = 60_000;

export async function killService(stores: Stores, size: ServiceKills): Promise<Finding> {
  const port = String(await freePort());
  await using stage = await openFaultStage(stores, {
    API_UPSTREAMS: `consultations=http://127.0.0.1:${port}`,
    API_RATE_LIMITS: 'pro=300,business=1200,enterprise=1000000',
    IDENTITY_SIGNING_KEYS: testKeyRing,
  });
  const [api, worker] = await Promise.all([stage.startApi(), stage.startWorker()]);
  const customer = await createApiCustomer(api);
  await stage.subscribe(['/hook'], { organizationId: fromPublicId('org', customer.organizationId) ?? '' });
  // A portion is due at the same time, so that the service is busy ending work when it is killed.
  const settings = { API_INTERNAL_URL: api.internalUrl, PORT: port, WORK_MS: '100' };
  await using fleet = await startFleet(1, () => stage.startConsultations(settings));
  const audits: WorkAudit[] = [];
  const portion = Math.ceil(size.consultations / size.kills);
  let unanswered = 0;
  for (let kill = 0; kill < size.kills; kill++) {
    const first = kill * portion;
    const numbers = Array.from({ length: Math.min(portion, size.consultations - first) }, (_, index) => first + index);
    let answered = 0;
    const asking = inParallel(numbers, size.clients, async (number) => {
      unanswered += await ask(customer, number);
      answered += 1;
    });
    const some = 1 + Math.floor(Math.random() * numbers.length);
    // Every other kill falls among requests instead of ends.
    if (kill % 2 === 0) await untilEnded(stage, first + some, audits);
    else await until(`${some} answers`, () => answered >= some, { withinMs: startWithinMs, everyMs: 1 });
    const replaced = fleet.crash(0);
    audits.push(await auditWork(stage.db));
    await Promise.all([replaced, asking]);
  }
  await untilEnded(stage, size.consultations, audits);
  await untilSettled(stage, size.consultations, size.settleWithinMs);
  audits.push(await auditWork(stage.db));
  await Promise.all([fleet.stop(), worker.stop(), api.stop()]);
  const work = await countWork(stage.db);
  const figures = {
    consultations: size.consultations,
    kills: fleet.kills.length,
    'answers other than 201': unanswered,
  };
  return await conclude(stage, size.consultations, figures, checksOf(size, audits, work));
}

/**
 * Through the API, which answers 502 while the service is away. A client that is not answered 201 asks again with the same
 * Idempotency-Key.
 *
 * @returns how often it was not
 */
async function ask({ call }: Pick<ApiClient, 'call'>, number: number): Promise<number> {
  const body = { question: 'Is it plausible?', fail: number % 5 === 0 };
  const key = { 'idempotency-key': `consultation-${number}` };
  let tries = 0;
  const again = () => {
    tries += 1;
    return call('POST', '/v1/consultations', body, key);
  };
  const options = { holds: ({ status }: HttpAnswer) => status === 201, withinMs: startWithinMs, everyMs: 100 };
  await until(`the answer to consultation ${number}`, again, options);
  return tries - 1;
}

/** Audits all the while: work and its event must never be seen apart. */
async function untilEnded(stage: FaultStage, count: number, audits: WorkAudit[]): Promise<void> {
  const ended = async () => {
    audits.push(await auditWork(stage.db));
    const { completed = 0, failed = 0 } = await countWork(stage.db);
    return completed + failed;
  };
  await until(`${count} ended`, ended, { holds: (found) => found >= count, withinMs: startWithinMs, everyMs: 1 });
}

function checksOf(size: ServiceKills, audits: readonly WorkAudit[], work: Record<string, number>) {
  const failed = Math.ceil(size.consultations / 5);
  const expected = { completed: size.consultations - failed, failed };
  const wrong = audits.filter((audit) => Object.values(audit).some((count) => count !== 0));
  return {
    [`work and events differ, first as ${JSON.stringify(wrong[0])}`]: wrong.length === 0,
    [`${JSON.stringify(work)} instead of ${JSON.stringify(expected)}`]:
      work.completed === expected.completed && work.failed === expected.failed && Object.keys(work).length === 2,
  };
}
