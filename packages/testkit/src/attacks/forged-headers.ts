/** A header that a client sends although only the API or the ingress may set it, and how it is spelt on the wire. */
export interface ForgedHeader {
  readonly name: string;
  readonly value: string;
}

/** Part of every forged value, so that a test can search for it in all that an upstream has received. */
export const forgedMark = 'forged-by-client';

const forged = (name: string, value: string = forgedMark): ForgedHeader => ({ name, value });

/** The names of the headers that say who is calling, as the upstream reads them. */
const identityNames = [
  'X-Organization-Id',
  'X-Organization-Plan',
  'X-Organization-Name',
  'X-Organization-',
  'X-Api-Key-Id',
  'X-Api-Key-Scopes',
  'X-Api-Key-Owner',
  'X-Identity-Token',
  'X-Identity-Subject',
] as const;

/** The names of the headers that say where a request came from. */
const originNames = [
  'Forwarded',
  'X-Forwarded-For',
  'X-Forwarded-Proto',
  'X-Forwarded-Host',
  'X-Forwarded-Port',
  'X-Forwarded-Prefix',
  'X-Forwarded-Method',
  'X-Forwarded-Uri',
  'X-Forwarded-Client-Cert',
] as const;

/**
 * The headers of an upstream's trust in every spelling that some server reads as the same name: other case, and `_` for
 * `-`, which CGI, WSGI and Rack turn into the same variable. None may reach an upstream.
 */
export const forgedIdentityHeaders: readonly ForgedHeader[] = [...identityNames, ...originNames].flatMap((name) =>
  spellings(name).map((spelling) => forged(spelling)),
);

/** The client's own credentials: they are for the API, and no upstream may see them. */
export const credentialHeaders: readonly ForgedHeader[] = [
  forged('Cookie', `session=${forgedMark}`),
  forged('cookie', `a=${forgedMark}; b=2`),
  forged('COOKIE', `a=${forgedMark}`),
  forged('Proxy-Authorization', `Basic ${forgedMark}`),
];

/**
 * The headers by which an ingress tells `/internal/v1/authorize` what to judge. Neither that endpoint nor an upstream may
 * get one as the client sent it.
 */
export const forgedControlHeaders: readonly ForgedHeader[] = [
  ...spellings('X-Internal-Authorization').map((name) => forged(name, `Bearer ${forgedMark}`)),
  ...spellings('X-Authorize-Repeat').map((name) => forged(name, '1')),
  ...spellings('X-Required-Scope').map((name) => forged(name)),
  ...spellings('X-Original-URI').map((name) => forged(name, `/v1/me?${forgedMark}`)),
  ...spellings('X-Original-Method').map((name) => forged(name, 'GET')),
];

/**
 * Values of `Connection` that name a header which the proxy itself adds. A proxy that removes hop-by-hop headers after it
 * has added its own would remove the identity.
 */
export const hopByHopNominations: readonly string[] = [
  'X-Organization-Id',
  'close, X-Organization-Id, X-Organization-Plan',
  'keep-alive, x-api-key-id, x-api-key-scopes, x-identity-token',
  'X-Request-Id, X-Forwarded-For, X-Forwarded-Proto',
  'X-Internal-Authorization, Authorization, X-Forwarded-Uri, X-Forwarded-Method',
  'Content-Length, Host',
];

function spellings(name: string): string[] {
  const firstUnderscore = name.replace('-', '_');
  const lastUnderscore = name.replace(/-(?=[^-]*$)/, '_');
  const all = [
    name,
    name.toLowerCase(),
    name.toUpperCase(),
    name.replaceAll('-', '_'),
    firstUnderscore,
    lastUnderscore,
  ];
  return [...new Set([...all, name.replaceAll('-', '_').toLowerCase()])];
}
