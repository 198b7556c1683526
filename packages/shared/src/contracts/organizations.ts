import { z } from 'zod';
import { pageQueryShape } from './pagination.ts';
import { planSchema } from './plans.ts';
import { changesSchema, exampleId, maxInteger, nameSchema, publicIdSchema, timestampSchema } from './primitives.ts';

const externalIdSchema = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, 'must be 1 to 200 visible ASCII characters')
  .describe("The caller's own id of the organization. No two organizations have the same.");

const settableFields = {
  name: nameSchema,
  plan: planSchema.describe('Its plan.'),
  external_id: externalIdSchema.nullable(),
};

export const createOrganizationSchema = z
  .strictObject(settableFields)
  .partial({ external_id: true })
  .meta({ id: 'CreateOrganization', examples: [{ name: 'Example', plan: 'enterprise', external_id: 'customer-17' }] });
export type CreateOrganization = z.output<typeof createOrganizationSchema>;

const bodyRetentionSchema = z
  .int()
  .min(0)
  .max(maxInteger)
  .nullable()
  .describe(
    'How long its event data and the answers of its receivers are stored, at most the setting `RETENTION_BODIES`; null: as long as the setting.',
  );

const operatorSchema = z.boolean().describe("Whether it gets a copy of every other organization's operational events.");

export const updateOrganizationSchema = changesSchema(
  'UpdateOrganization',
  { ...settableFields, body_retention_seconds: bodyRetentionSchema, operator: operatorSchema },
  { plan: 'business' },
);
export type UpdateOrganization = z.output<typeof updateOrganizationSchema>;

export const closeOrganizationSchema = z
  .strictObject({
    confirm: z.string().describe('The id of the organization again.'),
    erase_after: z
      .int()
      .min(0)
      .max(2_592_000)
      .default(0)
      .describe("After how many seconds the organization's data is erased."),
  })
  .meta({ id: 'CloseOrganization', examples: [{ confirm: exampleId('org'), erase_after: 86_400 }] });
export type CloseOrganization = z.output<typeof closeOrganizationSchema>;

export const listOrganizationsQuerySchema = z.strictObject({
  ...pageQueryShape,
  external_id: externalIdSchema.optional(),
});
export type ListOrganizationsQuery = z.output<typeof listOrganizationsQuerySchema>;

export const organizationSchema = z
  .strictObject({
    id: publicIdSchema('org'),
    object: z.literal('organization'),
    name: z.string().nullable().describe('A name for people; null if the organization is closed.'),
    plan: planSchema.describe('Its plan.'),
    external_id: z.string().nullable().describe("The caller's own id of the organization."),
    state: z
      .enum(['active', 'closing', 'closed'])
      .describe('`closing`: nothing works for it any more, and its data will be erased; `closed`: its data is erased.'),
    closed_at: timestampSchema.nullable().describe('When its data was erased; null unless it is closed.'),
    body_retention_seconds: bodyRetentionSchema,
    operator: operatorSchema,
    created_at: timestampSchema.describe('When the organization was created.'),
  })
  .meta({
    id: 'Organization',
    description: 'A customer of the service, with one plan, API keys and webhooks.',
    examples: [
      {
        id: exampleId('org'),
        object: 'organization',
        name: 'Example',
        plan: 'enterprise',
        external_id: 'customer-17',
        body_retention_seconds: null,
        operator: false,
        state: 'active',
        closed_at: null,
        created_at: '2026-11-21T07:00:00.000Z',
      },
    ],
  });
export type Organization = z.infer<typeof organizationSchema>;
