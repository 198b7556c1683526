import type { AttemptError } from './deliveries.ts';

/**
 * The remedy for each error, for the owner of the endpoint. docs/customers/debug-a-delivery.md has the same sentences.
 */
export const attemptHints: Readonly<Record<Exclude<AttemptError, 'http_error'>, string>> = {
  timeout: 'Your endpoint did not answer in time: answer first, then work.',
  dns_failed: 'The host name does not resolve: check the URL and your DNS records.',
  connection_refused: 'Nothing listens there, or a firewall refuses us: start your endpoint, and allow our addresses.',
  connection_reset: "Your endpoint closed the connection before it answered: read its log, and its proxy's.",
  tls_failed: 'Use a valid certificate for this host, send its whole chain, and demand no client certificate.',
  destination_blocked: 'The host name points to an address that is not public: use a public one.',
  redirect: 'We follow no redirects: register the URL to which your endpoint points.',
  response_invalid: 'The answer was not HTTP: check that the URL leads to an HTTPS server.',
  secret_unavailable: "We could not read the webhook's secret: rotate it, or contact us.",
};

/** The remedy for each status, or for the first digit of a status. */
export const statusHints: Readonly<Record<string, string>> = {
  401: 'Your endpoint refused the signature: check the secret, and verify the raw body.',
  403: 'Your endpoint, or a firewall before it, forbids the request: allow our addresses.',
  404: 'Nothing answers at this path: check the path of the URL.',
  405: 'Your endpoint accepts no POST at this path: check the path and the method.',
  410: 'Your endpoint answered 410, which disabled the webhook: if that was a mistake, enable it again.',
  413: 'Your endpoint accepts no body of this size: raise its limit.',
  429: 'Your endpoint, or a gateway before it, limits its requests: raise the limit.',
  4: 'Your endpoint refused the request: read its answer and its log.',
  5: 'Your endpoint failed: read its answer and its log.',
};

export function hintOf(error: AttemptError, statusCode: number | null): string {
  if (error !== 'http_error') return attemptHints[error];
  const status = String(statusCode);
  return statusHints[status] ?? statusHints[status.slice(0, 1)] ?? (statusHints[5] as string);
}
