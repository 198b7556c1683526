import type { JsonObject, Listener } from './types.ts';

const conventions = `
Names are in snake_case, times are RFC 3339 in UTC, and names of times end in \`_at\`. Ids are a prefix, \`_\` and 26 characters.
HEAD is answered like GET, without a body. A path with a trailing slash is another path. Unknown fields and unknown
query parameters are refused (400). Answers may get further fields: ignore those that you do not know.

**Errors** have one shape, \`Error\`. Their \`code\` is for programs, their \`message\` for people. \`request_id\` is
\`X-Request-Id\` of the answer: name it when you ask for help. Requests that are not valid HTTP get 400 or 431
\`malformed_request\`, or 408 \`request_timeout\`, whatever their path.

**Lists** have \`data\`, \`has_more\` and \`next_cursor\`, the newest first unless you ask for \`order=asc\` where it is
offered. For the next page, send \`next_cursor\` as \`cursor\`, with the same filters.`;

export const introductions: Readonly<Record<Listener, { summary: string; description: string }>> = {
  public: {
    summary: 'Organizations register webhooks, get events, and read the history of every delivery.',
    description:
      `**Authentication**: \`Authorization: Bearer nwk_…\`. Every operation names the scope that the key needs. Checks come in
this order: the key (401), its addresses, the plan (403), the rate limit (429), the scope (403), the method (405), the body
(415, 413, 400), the object (404), its state (409, 412, 422).
${conventions}

**Repeating**: a POST with an \`Idempotency-Key\` takes effect once; if you repeat it within 24 hours, you get the stored answer.
After a 503, or without an answer, the outcome is unknown: repeat the request with the same key.
After 429 and 503, wait first for as long as \`Retry-After\` says.

**Other areas**, such as consultations and batches, belong to other services. The API checks the key, the scope and the limits
of each request, then forwards it. \`x-areas\` lists the methods, paths and scopes. The owner of each area documents its shapes.`.trim(),
  },
  internal: {
    summary: 'Internal services create organizations and keys, and emit events.',
    description:
      `**Authentication**: \`Authorization: Bearer <INTERNAL_API_SECRET>\`. This listener must not be reachable from outside.
${conventions}`.trim(),
  },
};

export const securitySchemes: Readonly<Record<Listener, Readonly<Record<string, JsonObject>>>> = {
  public: {
    apiKey: {
      type: 'http',
      scheme: 'bearer',
      bearerFormat: 'nwk_…',
      description: 'An API key of an organization. Operations name the scope that it needs; `*` grants all.',
    },
  },
  internal: {
    internalSecret: { type: 'http', scheme: 'bearer', description: 'INTERNAL_API_SECRET.' },
    authorizeSecret: {
      type: 'apiKey',
      in: 'header',
      name: 'X-Internal-Authorization',
      description: '`Bearer ` and INTERNAL_API_SECRET or INTERNAL_AUTHORIZE_SECRET: `Authorization` is the client’s.',
    },
  },
};
