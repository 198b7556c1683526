import { toPublicId, type Uuid } from '@enterprise-api/shared/runtime';
import { sql } from 'kysely';
import type { FaultStage } from './stage.ts';

interface Told {
  organization_id: Uuid;
  type: string;
  /** In an operator's copy, whose event it is. */
  copy_of: string | null;
  /** Its data as text, without the fields that only copies have. */
  data: string;
  delivered: boolean;
}

async function listTold(stage: FaultStage): Promise<Told[]> {
  const { rows } = await sql<Told>`
    select e.organization_id, e.type, data ->> 'organization_id' as copy_of,
      (data - 'organization_id' - 'external_id')::text as data,
      exists (select from deliveries d where d.event_id = e.id and d.status = 'succeeded') as delivered
    from events e join event_bodies b on b.event_id = e.id cross join lateral (select b.body::jsonb -> 'data' as data) x
    where e.type ~ '^(webhook|api_key|replay)[.]' and e.type <> 'webhook.test'`.execute(stage.db);
  return rows;
}

/**
 * Each completed replay has one event, and no operational event says the same as another. Each is delivered. The
 * operator has exactly one copy of the events of others, and no copy of its own.
 *
 * @param keys the event that each API key must have, and no other
 */
export async function operationalProblems(
  stage: FaultStage,
  operatorId: Uuid,
  keys: ReadonlyMap<string, string>,
): Promise<string[]> {
  const told = await listTold(stage);
  const copies = told.filter(({ copy_of }) => copy_of !== null);
  const originals = told.filter(({ copy_of }) => copy_of === null);
  const completed = await stage.db.selectFrom('replays').select('id').where('state', '=', 'completed').execute();
  const finished = originals.map(({ data }) => JSON.parse(data).replay?.id);
  const missing = completed.filter(({ id }) => !finished.includes(toPublicId('rpl', id)));
  const said = new Set<string>();
  // A webhook that fails for long is told of twice.
  const twice = originals.filter(
    ({ type, data }) => type !== 'webhook.failing' && said.size === said.add(type + data).size,
  );
  const due = originals.filter((each) => each.organization_id !== operatorId);
  const [found, expected] = [copies, due].map(linesOf);
  return [
    ...missing.map(({ id }) => `no replay.finished of ${id}`),
    ...twice.map(({ type }) => `${type} twice`),
    ...keyProblems(originals, keys),
    ...(found === expected ? [] : [`${copies.length} copies of ${due.length} events`]),
    ...copies
      .filter((each) => each.organization_id !== operatorId)
      .map(({ type }) => `a customer has a copy of ${type}`),
    ...told.filter(({ delivered }) => !delivered).map(({ type }) => `${type} was not delivered`),
  ];
}

export async function hasToldOfKeys(stage: FaultStage, keys: ReadonlyMap<string, string>): Promise<boolean> {
  const told = await listTold(stage);
  return [...keys.keys()].every((id) => told.some(({ data }) => data.includes(id)));
}

function keyProblems(originals: readonly Told[], keys: ReadonlyMap<string, string>): string[] {
  const byKey = Map.groupBy(originals, ({ data }) => JSON.parse(data).api_key?.id as string | undefined);
  return [...keys].flatMap(([id, due]) => {
    const types = (byKey.get(id) ?? []).map(({ type }) => type).join();
    return types === due ? [] : [`${id} has ${types}, not ${due}`];
  });
}

const linesOf = (told: readonly Told[]) =>
  told
    .map(
      ({ type, data, copy_of, organization_id }) => `${type} ${copy_of ?? toPublicId('org', organization_id)} ${data}`,
    )
    .sort()
    .join('\n');
