import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ApiClient,
  type ApiCustomer,
  createTemporaryFolder,
  projectFolder,
  spawnGuarded,
  testEvent,
  until,
} from '@enterprise-api/testkit';

const subject = 'con_erased';

/** Emits an event that {@link eraseAndExport} erases. @returns its id */
export async function emitErasable({ emit, organizationId }: ApiCustomer): Promise<string> {
  const { body } = await emit([testEvent(organizationId, { data: { consultation_id: subject } })]);
  return body.data[0].id;
}

/** Erases an event, and exports its erasure as an operator's timer does. @returns the export */
export async function eraseAndExport({ internal, organizationId }: ApiCustomer): Promise<string> {
  const { body } = await internal('POST', '/internal/v1/erasures', { organization_id: organizationId, subject });
  const state = async () => (await internal('GET', `/internal/v1/erasures/${body.id}`)).body.state;
  await until('the erasure', state, { holds: (found) => found === 'completed', withinMs: 60_000 });
  const exported = await internal('GET', '/internal/v1/erasure-records?limit=100');
  return exported.body.data.map((record: object) => `${JSON.stringify(record)}\n`).join('');
}

/** Applies an export to a restored ledger. @returns the exit code of the command */
export async function applyExport(databaseUrl: string, exported: string): Promise<number | null> {
  using folder = createTemporaryFolder('erasures');
  const file = join(folder.path, 'erasures.jsonl');
  writeFileSync(file, exported);
  const command = await spawnGuarded(process.execPath, ['services/webhook-worker/src/apply-erasures-main.ts', file], {
    cwd: projectFolder,
    env: { PATH: process.env.PATH, DATABASE_URL: databaseUrl },
  });
  return (await command.exited).code;
}

/** Words for what is wrong, and whether it is right. */
export async function checkErased(
  { call }: Pick<ApiClient, 'call'>,
  eventId: string,
): Promise<Record<string, boolean>> {
  const { body } = await call('GET', `/v1/events/${eventId}`);
  return { 'an erased event has its data again': body.data === null && body.erased_at !== null };
}
