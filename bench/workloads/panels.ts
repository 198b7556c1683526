import { toPublicId } from '@enterprise-api/shared/runtime';
import { createApiClient, databaseUrl, ensureDatabase, quantile, sendRequest } from '@enterprise-api/testkit';
import { sql } from 'kysely';
import { type PanelRequest, panelRequests } from '../measure/panel-requests.ts';
import { fillPanels } from '../stage/fill-panels.ts';
import { type BenchStage, openBenchStage } from '../stage/stage.ts';
import { subscribe } from '../stage/subscriptions.ts';
import type { Finding, RunContext } from '../workload.ts';

const requestsPerPanel = 200;
const warmUp = 20;
/** A request that takes seconds is measured well enough before 200 answers. */
const withinMs = 10_000;
const settings = { CONSOLE_PUBLIC_URL: 'http://127.0.0.1:3000', CONSOLE_RATE_LIMIT: '1000000' };

/** W11: the time of every request that the console makes, in a ledger of ten million deliveries or of `ROWS`. `KEEP=1` keeps it. */
export async function panels({ lab, sizes, setting }: RunContext): Promise<Finding> {
  const rows = Number(process.env.ROWS ?? sizes.panels);
  const name = `panels_${rows}`;
  await ensureDatabase(lab.stores.postgres.url, name);
  await using stage = await openBenchStage(lab, {
    setting,
    settings,
    worker: false,
    databaseUrl: databaseUrl(lab.stores.postgres.url, name),
  });
  const organizationId = (await filledBefore(stage)) ?? (await fill(stage, rows));
  const cookies = await enter(stage, organizationId);
  const figures: Record<string, number> = {};
  const problems: string[] = [];
  for (const [panel, asked] of Object.entries(await panelRequests(stage.db, organizationId))) {
    const requests = asked.map((each) => bytesOf(organizationId, each, cookies));
    const port = Number(new URL(stage.api.url).port);
    const load = { kind: 'closed', port, requests, connections: 1, withinMs } as const;
    await lab.generator.call('run', { ...load, count: warmUp });
    const { answeredAt, sentAt, statuses } = await lab.generator.call('run', { ...load, count: requestsPerPanel });
    const refused = statuses.filter((status) => status !== 200);
    if (refused.length > 0 || statuses.length === 0)
      problems.push(`${panel}: ${refused.length} answers like ${refused[0]}`);
    const times = answeredAt.map((at, index) => at - (sentAt[index] as number));
    for (const percent of [50, 95, 100]) figures[`${panel} p${percent}`] = quantile(times, percent / 100);
  }
  return { figures, problems };
}

/** A ledger that an earlier run kept names the organization. */
async function filledBefore({ db }: BenchStage): Promise<string | undefined> {
  const { rows } = await sql<{ id: string | null }>`select obj_description('deliveries'::regclass) as id`.execute(db);
  return rows[0]?.id ?? undefined;
}

async function fill(stage: BenchStage, rows: number): Promise<string> {
  const { db, lab, api, databaseUrl: url } = stage;
  const {
    organizationIds: [organizationId = ''],
  } = await subscribe(db, lab.receiverPort, { organizations: 1, webhooks: 100 });
  const { organizationIds: otherIds } = await subscribe(db, lab.receiverPort, { organizations: 100, webhooks: 1 });
  const client = createApiClient(api);
  for (let made = 0; made < 20; made++) await client.createKey(toPublicId('org', organizationId));
  await fillPanels(db, url, rows, { organizationId, otherIds });
  await sql`comment on table deliveries is ${sql.lit(organizationId)}`.execute(db);
  return organizationId;
}

type Cookies = Record<'customer' | 'staff', string>;

/** A session whose link a key minted, and one of the owner's staff. */
async function enter({ api }: BenchStage, organizationId: string): Promise<Cookies> {
  const client = createApiClient(api);
  const id = toPublicId('org', organizationId);
  const { secret: key } = await client.createKey(id);
  const byKey = await createApiClient(api, { key }).call('POST', '/v1/console-sessions', { scopes: ['*'] });
  const path = `/internal/v1/organizations/${id}/console-sessions`;
  const byStaff = await client.internal('POST', path, { scopes: ['*', 'keys:read'] }, { 'X-Actor': 'bench' });
  const cookieOf = async (link: string) => {
    const headers = { 'X-Console': '1', 'Content-Type': 'application/json' };
    const body = JSON.stringify({ token: link.split('#')[1] });
    const answer = await sendRequest({ method: 'POST', url: new URL('/console/api/enter', api.url), headers, body });
    return String(answer.headers['set-cookie']).split(';')[0] ?? '';
  };
  return { customer: await cookieOf(byKey.body.url), staff: await cookieOf(byStaff.body.url) };
}

function bytesOf(
  organizationId: string,
  { method = 'GET', path, body, isByStaff }: PanelRequest,
  cookies: Cookies,
): Uint8Array {
  const text = body === undefined ? '' : JSON.stringify(body);
  const cookie = isByStaff ? cookies.staff : cookies.customer;
  const head = `${method} /console/api/${toPublicId('org', organizationId)}${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Console: 1\r\nCookie: ${cookie}`;
  const content = body === undefined ? '' : `\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`;
  return new Uint8Array(Buffer.from(`${head}${content}\r\n\r\n${text}`));
}
