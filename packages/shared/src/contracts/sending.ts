import { z } from 'zod';
import { exampleId, publicIdSchema, timestampSchema } from './primitives.ts';

const ofOrganization = publicIdSchema('org').optional();

export const getSendingQuerySchema = z.strictObject({
  organization_id: ofOrganization.describe('The organization; without it, all deliveries.'),
});
export type GetSendingQuery = z.infer<typeof getSendingQuerySchema>;

export const setSendingSchema = z
  .strictObject({
    paused: z.boolean().describe('Whether to pause or to resume.'),
    organization_id: ofOrganization.describe('The organization; without it, all deliveries.'),
  })
  .meta({
    id: 'SetSending',
    description: 'Pauses or resumes deliveries.',
    examples: [{ paused: true, organization_id: exampleId('org') }, { paused: false }],
  });
export type SetSending = z.infer<typeof setSendingSchema>;

export const sendingSchema = z
  .strictObject({
    paused: z.boolean().describe('Whether deliveries are paused.'),
    organization_id: publicIdSchema('org').nullable().describe('Id of the organization. Null: all deliveries.'),
    since: timestampSchema.nullable().describe('When it was paused; null while it is not.'),
  })
  .meta({
    id: 'Sending',
    description: 'Whether deliveries are paused, for all organizations or for one. The two pauses are independent.',
    examples: [{ paused: true, organization_id: exampleId('org'), since: '2026-11-21T07:00:00.000Z' }],
  });
export type Sending = z.infer<typeof sendingSchema>;
