import { z } from 'zod';

/** The shape of errors under `/scim/v2` (RFC 7644, section 3.12). */
export const scimErrorSchema = z
  .strictObject({
    schemas: z.array(z.literal('urn:ietf:params:scim:api:messages:2.0:Error')),
    status: z.string(),
    detail: z.string().describe('The code of the error, and its message.'),
  })
  .meta({
    id: 'ScimError',
    description: 'The body of an error under `/scim/v2`.',
    examples: [
      {
        schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
        status: '404',
        detail: 'not_found: There is no such resource.',
      },
    ],
  });
