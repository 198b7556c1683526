import { z } from 'zod';
import { pageQueryShape } from './pagination.ts';
import { planSchema } from './plans.ts';
import { changesSchema, exampleId, nameSchema, publicIdSchema, timestampSchema } from './primitives.ts';

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

export const updateOrganizationSchema = changesSchema('UpdateOrganization', settableFields, { plan: 'business' });
export type UpdateOrganization = z.output<typeof updateOrganizationSchema>;

export const listOrganizationsQuerySchema = z.strictObject({
  ...pageQueryShape,
  external_id: externalIdSchema.optional(),
});
export type ListOrganizationsQuery = z.output<typeof listOrganizationsQuerySchema>;

export const organizationSchema = z
  .strictObject({
    id: publicIdSchema('org'),
    object: z.literal('organization'),
    name: z.string().describe('A name for people.'),
    plan: planSchema.describe('Its plan.'),
    external_id: z.string().nullable().describe("The caller's own id of the organization."),
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
        created_at: '2026-11-21T07:00:00.000Z',
      },
    ],
  });
export type Organization = z.infer<typeof organizationSchema>;
