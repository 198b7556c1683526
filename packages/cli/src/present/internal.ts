import type { ApiKey, AuditEntry, EmittedEvent, Organization } from '../internal/types.ts';
import type { Field } from '../output/printer.ts';
import type { Column } from '../output/table.ts';
import { orDash, time } from './format.ts';

export const organizationColumns: Column<Organization>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => orDash(name), isElastic: true },
  { title: 'PLAN', text: ({ plan }) => plan },
  { title: 'STATE', text: ({ state }) => state },
  { title: 'EXTERNAL ID', text: ({ external_id }) => orDash(external_id), isElastic: true },
  { title: 'CREATED (UTC)', text: ({ created_at }) => time(created_at) },
];

export function organizationFields(organization: Organization): Field[] {
  const { id, name, plan, external_id, body_retention_seconds: kept, operator, state } = organization;
  const { closed_at, created_at } = organization;
  return [
    ['id', id],
    ['name', orDash(name)],
    ['plan', plan],
    ['state', state],
    ['external id', orDash(external_id)],
    ['event data', kept === null ? undefined : `kept for ${kept} s`],
    ['operator', operator ? "gets everyone's operational events" : undefined],
    ['created', time(created_at)],
    ['closed', closed_at === null ? undefined : time(closed_at)],
  ];
}

export const keyColumns: Column<ApiKey>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'NAME', text: ({ name }) => orDash(name), isElastic: true },
  { title: 'BEGINS WITH', text: ({ key_prefix }) => key_prefix },
  { title: 'SCOPES', text: ({ scopes }) => scopes.join(', '), isElastic: true },
  { title: 'EXPIRES', text: ({ expires_at }) => time(expires_at) },
  { title: 'LAST USED', text: ({ last_used_at }) => time(last_used_at) },
  { title: 'FROM', text: ({ last_used_address }) => orDash(last_used_address) },
];

export function keyFields(key: ApiKey): Field[] {
  return [
    ['id', key.id],
    ['organization', key.organization_id],
    ['name', orDash(key.name)],
    ['begins with', key.key_prefix],
    ['scopes', key.scopes.join(', ')],
    ['addresses', key.ip_allowlist === null ? 'any' : key.ip_allowlist.join(', ')],
    ['other addresses', key.outside_allowlist === null ? 'refused' : outsideText(key.outside_allowlist)],
    ['created', time(key.created_at)],
    ['expires', key.expires_at === null ? 'never' : time(key.expires_at)],
    ['last used', time(key.last_used_at)],
    ['last used from', orDash(key.last_used_address)],
    ['last used with', orDash(key.last_used_user_agent)],
  ];
}

function outsideText({ count, last_at, addresses }: NonNullable<ApiKey['outside_allowlist']>): string {
  if (last_at === null) return 'served and counted; none so far';
  return `served and counted: ${count}, the last ${time(last_at)}, from ${addresses.join(', ')}`;
}

export const auditColumns: Column<AuditEntry>[] = [
  { title: 'TIME (UTC)', text: ({ created_at }) => time(created_at) },
  { title: 'ACTION', text: ({ action }) => action },
  { title: 'OBJECT', text: ({ object_id, object_type }) => object_id ?? object_type },
  {
    title: 'BY',
    text: ({ actor, on_behalf_of }) => (on_behalf_of === null ? actor : `${actor} for ${on_behalf_of}`),
    isElastic: true,
  },
  { title: 'CHANGES', text: ({ changes }) => changesText(changes), isElastic: true },
];

function changesText(changes: AuditEntry['changes']): string {
  return Object.entries(changes)
    .map(([field, { from, to }]) => `${field}: ${JSON.stringify(from)} → ${JSON.stringify(to)}`)
    .join(', ');
}

export const emittedColumns: Column<EmittedEvent>[] = [
  { title: 'ID', text: ({ id }) => id },
  { title: 'TYPE', text: ({ type }) => type },
  { title: 'ORGANIZATION', text: ({ organization_id }) => organization_id },
  { title: '', text: ({ duplicate }) => (duplicate ? 'was there already' : 'accepted') },
];
