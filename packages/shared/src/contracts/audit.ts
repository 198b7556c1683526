import { z } from 'zod';
import { pageQueryShape, repeatable } from './pagination.ts';
import { exampleId, forwardPeriod, type IdPrefix, periodShape, publicIdSchema, timestampSchema } from './primitives.ts';

export const auditObjectPrefixes = {
  organization: 'org',
  api_key: 'key',
  webhook: 'whk',
  delivery: 'dlv',
  event: 'evt',
  /** The object id names the organization whose sending changed. Without an object id, all sending changed. */
  sending: 'org',
  erasure: 'ers',
  replay: 'rpl',
  console_session: 'ses',
} as const satisfies Record<string, IdPrefix>;
export type AuditObjectType = keyof typeof auditObjectPrefixes;

/**
 * If a worker disables a webhook, the action is `webhook.disabled`. If an API request disables it, the action is
 * `webhook.updated`.
 */
export const auditActions = [
  'organization.created',
  'organization.updated',
  'organization.closed',
  'api_key.created',
  'api_key.updated',
  'api_key.deleted',
  'webhook.created',
  'webhook.updated',
  'webhook.secret_rotated',
  'webhook.deleted',
  'webhook.disabled',
  'webhook.recovered',
  'webhook.tested',
  'webhook.replayed',
  'webhook.paused',
  'webhook.resumed',
  'delivery.retried',
  'event.read',
  'sending.paused',
  'sending.resumed',
  'erasure.requested',
  'replay.canceled',
  'console_session.created',
  'console_session.entered',
  'console_session.link_reused',
  'console_session.ended',
] as const satisfies `${AuditObjectType}.${string}`[];
export type AuditAction = (typeof auditActions)[number];

export function auditObjectType(action: AuditAction): AuditObjectType {
  return action.slice(0, action.indexOf('.')) as AuditObjectType;
}

const objectIdSchema = z.union(
  [...new Set(Object.values(auditObjectPrefixes))].map((prefix) => publicIdSchema(prefix)),
  'must be the id of an organization, a key, a webhook, a delivery, an event, an erasure, a replay or a console session',
);

const auditActionSchema = z.enum(auditActions).meta({
  id: 'AuditAction',
  description: 'The action.',
  examples: ['webhook.updated'],
});

const ownAuditQueryShape = {
  ...pageQueryShape,
  object_id: objectIdSchema.optional(),
  action: auditActionSchema.optional(),
  ...periodShape,
};

export const listAuditQuerySchema = forwardPeriod(
  z.strictObject({ ...ownAuditQueryShape, organization_id: publicIdSchema('org').optional() }),
);
export type ListAuditQuery = z.infer<typeof listAuditQuerySchema>;

/** The entries of one organization, in the console. */
export const listOwnAuditQuerySchema = forwardPeriod(
  z.strictObject({ ...ownAuditQueryShape, action: repeatable(auditActionSchema) }),
);
export type ListOwnAuditQuery = z.infer<typeof listOwnAuditQuerySchema>;

const auditValueSchema = z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(z.string())]);

/** The values of changed fields before and after the change; null = the field had or has no value. */
const auditChangesSchema = z.record(
  z.string(),
  z.strictObject({
    from: auditValueSchema.describe('The value before; null: none.'),
    to: auditValueSchema.describe('The value after; null: none.'),
  }),
);
export type AuditChanges = z.infer<typeof auditChangesSchema>;

export const auditEntrySchema = z
  .strictObject({
    id: publicIdSchema('aud'),
    object: z.literal('audit_entry'),
    actor: z
      .string()
      .describe(
        '`key_…` for a request to `/v1`, `ses_…` for one of a console session, `internal` for one to the internal listener, `webhook-worker` for a worker.',
      ),
    action: auditActionSchema.describe('The action, such as `webhook.updated`.'),
    object_type: z
      .enum(Object.keys(auditObjectPrefixes) as [AuditObjectType, ...AuditObjectType[]])
      .describe('The kind of the object that changed or was read.'),
    object_id: objectIdSchema
      .nullable()
      .describe('Id of the object that changed or was read. Null: all sending was paused or resumed.'),
    organization_id: publicIdSchema('org')
      .nullable()
      .describe('Id of the organization. Null: the change concerns all organizations.'),
    request_id: z
      .string()
      .nullable()
      .describe('`X-Request-Id` of the request; null if a worker made the change, or if the organization is closed.'),
    on_behalf_of: z
      .string()
      .nullable()
      .describe(
        '`X-Actor` of the request: the person or system that asked the internal caller to act; null if the organization is closed.',
      ),
    changed_fields: z.array(z.string()).describe('The names of the changed fields.'),
    changes: auditChangesSchema.describe('The changed fields that hold no secret, with their values before and after.'),
    created_at: timestampSchema.describe('When it was done.'),
  })
  .meta({
    id: 'AuditEntry',
    description:
      'An action on an organization, a key, a webhook, a delivery, an erasure or a replay; a pause of all sending; or the reading of an event by an operator.',
    examples: [
      {
        id: exampleId('aud'),
        object: 'audit_entry',
        actor: exampleId('key'),
        action: 'webhook.updated',
        object_type: 'webhook',
        object_id: exampleId('whk'),
        organization_id: exampleId('org'),
        request_id: exampleId('req'),
        on_behalf_of: null,
        changed_fields: ['enabled'],
        changes: { enabled: { from: true, to: false } },
        created_at: '2026-11-21T07:00:00.000Z',
      },
    ],
  });
export type AuditEntry = z.infer<typeof auditEntrySchema>;
