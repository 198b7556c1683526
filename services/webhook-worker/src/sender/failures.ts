import type { AttemptError } from '@enterprise-api/shared/contracts';
import { BoundedMap } from '@enterprise-api/shared/runtime';

/** Why an attempt failed on our side: no free file descriptor, no free local port, no route, or no name server. */
export type LocalCause = 'file_descriptors' | 'local_ports' | 'network' | 'resolver';

/** A public code and a text of our own, which never contains a library's text or an address. */
export type Failure = {
  code: AttemptError;
  message: string;
  /** Set when the failure is on our side and says nothing about the receiver. */
  localCause?: LocalCause;
};

/** Carries a failure through undici. Has no `code` property, because undici would interpret that property. */
export class FailureError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export const destinationBlocked: Failure = {
  code: 'destination_blocked',
  message: 'The URL leads to an address that deliveries may not reach.',
};

export const connectionLost: Failure = {
  code: 'connection_reset',
  message: 'The connection to the receiver was lost.',
};

export const tooManyInformational: Failure = {
  code: 'response_invalid',
  message: 'The receiver keeps sending informational (1xx) responses.',
};

export const foreignAnswer: Failure = {
  code: 'response_invalid',
  message: 'The answer does not belong to the request.',
};

const closed = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ENOTCONN', 'ERR_STREAM_DESTROYED', 'UND_ERR_SOCKET'];
const unreachable = ['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EAFNOSUPPORT'];
const noDescriptor = ours('connection_refused', 'file_descriptors', 'No file descriptor was free on our side.');

/**
 * Failures by error code. If several addresses failed, the first matching entry counts. Answers of receivers come
 * first, because they say more than silence.
 */
const connectFailures = new Map<string, Failure>([
  ...sameFor(closed, 'connection_reset', 'The receiver closed the connection before it was established.'),
  ...sameFor(['ECONNREFUSED'], 'connection_refused', 'The receiver refused the connection.'),
  ['EMFILE', noDescriptor],
  ['ENFILE', noDescriptor],
  ['EADDRNOTAVAIL', ours('connection_refused', 'local_ports', 'No local port was free on our side.')],
  ...sameFor(['ETIMEDOUT'], 'timeout', 'The receiver did not accept the connection in time.'),
  ...sameFor(unreachable, 'connection_refused', 'The receiver cannot be reached over the network.'),
]);

const networkDown = ours(
  'connection_refused',
  'network',
  'Our network has no route to this address family, so the failure is on our side.',
);

/** Marks a failed look-up as a failure on our side. */
export function resolverDown({ code, message }: Failure): Failure {
  return ours(code, 'resolver', `${message} Our name servers seem to fail, so the failure is on our side.`);
}

export function isTemporaryDnsError(error: unknown): boolean {
  return !['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(codeOf(error));
}

const dnsMessages: Record<string, string> = {
  ENOTFOUND: 'The host name of the URL has no address.',
  ENODATA: 'The host name of the URL has no address.',
  ETIMEOUT: 'The name servers did not answer in time.',
};

export function dnsFailure(error: unknown): Failure {
  const message = dnsMessages[codeOf(error)] ?? 'The name servers could not resolve the host name of the URL.';
  return { code: 'dns_failed', message };
}

export function isWithoutRoute(error: unknown): boolean {
  return codesOf(error).every((code) => code === 'ENETUNREACH' || code === 'ENETDOWN');
}

/**
 * Explains why no TCP connection was made.
 *
 * @param isNetworkDown whether other destinations have no route either
 */
export function connectFailure(error: unknown, isNetworkDown: boolean): Failure {
  if (error instanceof FailureError) return error.failure;
  if (isNetworkDown && isWithoutRoute(error)) return networkDown;
  const codes = codesOf(error);
  const [, known] = [...connectFailures].find(([code]) => codes.includes(code)) ?? [];
  return known ?? { code: 'connection_refused', message: 'The connection to the receiver could not be established.' };
}

const notHttp: Failure = { code: 'response_invalid', message: 'The answer is not valid HTTP/1.1.' };

/** Failures by error code or name: the parser's errors have a name and, in this version of undici, mostly no code. */
const exchangeFailures: Record<string, Failure> = {
  ETIMEDOUT: { code: 'timeout', message: 'The connection to the receiver broke down.' },
  UND_ERR_HEADERS_OVERFLOW: { code: 'response_invalid', message: 'The headers of the answer are larger than 16 KiB.' },
  HTTPParserError: notHttp,
  ERR_ASSERTION: notHttp,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: notHttp,
};

export function exchangeFailure(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = codeOf(error);
  if (code === 'EPROTO' || /^ERR_(?:SSL|TLS)_/.test(code)) return tlsFailure(error, false);
  const known = exchangeFailures[code] ?? exchangeFailures[textOf(error, 'name')];
  if (known !== undefined) return known;
  // undici uses one code for an ended connection and for a response that it refuses, so check the message.
  if (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(textOf(error, 'message'))) return foreignAnswer;
  return { code: 'connection_reset', message: 'The receiver closed the connection before it answered.' };
}

const notTrusted = 'No trusted authority issued the certificate, or an intermediate certificate is missing.';
const versionTooOld = 'The receiver does not offer TLS 1.2 or later.';
const notTls = 'The port of the URL does not speak TLS.';
const clientCertificateDemanded = 'The receiver demands a client certificate. Deliveries carry none.';
const nothingInCommon = 'The receiver accepts no TLS version, cipher or curve that deliveries offer.';

const tlsMessages: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  CERT_REVOKED: 'The certificate has been revoked.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: notTrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: notTrusted,
  UNABLE_TO_GET_ISSUER_CERT: notTrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: notTrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is not valid for the host of the URL.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: versionTooOld,
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: versionTooOld,
  ERR_SSL_WRONG_VERSION_NUMBER: notTls,
  ERR_SSL_PACKET_LENGTH_TOO_LONG: notTls,
  // OpenSSL spells this alert in two ways, depending on its version.
  'ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE': nothingInCommon,
  ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE: nothingInCommon,
  ERR_SSL_NO_SHARED_CIPHER: nothingInCommon,
  ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY: nothingInCommon,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'The receiver does not offer HTTP/1.1 over TLS (ALPN).',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: clientCertificateDemanded,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'The receiver has no certificate for the host of the URL.',
  ERR_SSL_DH_KEY_TOO_SMALL: 'The key that the receiver offers is too short.',
  ERR_SSL_EE_KEY_TOO_SMALL: 'The key of the certificate is too short.',
};

/**
 * Explains why a TLS handshake failed, or why an alert ended an open connection.
 *
 * @param sawCertificate whether the receiver had sent its certificate. If it refuses the handshake afterwards, it
 *   demands a client certificate: TLS 1.2 has no separate alert for that
 */
export function tlsFailure(error: unknown, sawCertificate: boolean): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = codeOf(error);
  if (closed.includes(code)) {
    return { code: 'connection_reset', message: 'The receiver closed the connection during the TLS handshake.' };
  }
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection broke down during the TLS handshake.' };
  const isDemanded = sawCertificate && code.endsWith('_ALERT_HANDSHAKE_FAILURE');
  const message = isDemanded ? clientCertificateDemanded : tlsMessages[code];
  return { code: 'tls_failed', message: message ?? 'The TLS handshake failed.' };
}

function ours(code: AttemptError, localCause: LocalCause, message: string): Failure {
  return { code, message: `${message} Nothing was sent.`, localCause };
}

function sameFor(codes: string[], code: AttemptError, message: string): [string, Failure][] {
  return codes.map((each) => [each, { code, message }]);
}

export function codeOf(error: unknown): string {
  return textOf(error, 'code');
}

/**
 * Checks the shape, not the class. An error may come from another realm (a `node:vm` context) or from another copy of a
 * library.
 */
function textOf(error: unknown, property: 'code' | 'message' | 'name'): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, property) : undefined;
  return typeof value === 'string' ? value : '';
}

function codesOf(error: unknown): string[] {
  const parts = typeof error === 'object' && error !== null && 'errors' in error ? error.errors : null;
  return Array.isArray(parts) && parts.length > 0 ? parts.map(codeOf) : [codeOf(error)];
}

const recentMs = 60_000;

/** Distinguishes an outage on our side from a failure of one destination. */
export class OutageRecord {
  /**
   * Times by destination: the latest failures since the last success, and the latest successes. Two destinations
   * suffice, because one of them differs from any given destination.
   */
  readonly #failed = new BoundedMap<string, number>(2);
  readonly #succeeded = new BoundedMap<string, number>(2);

  succeeded(destination: string): void {
    this.#failed.clear();
    this.#succeeded.set(destination, performance.now());
  }

  /** @returns whether another destination has failed since the last success, within the last minute */
  failed(destination: string): boolean {
    this.#failed.set(destination, performance.now());
    return hasRecentOther(this.#failed, destination);
  }

  othersSucceed(destination: string): boolean {
    return hasRecentOther(this.#succeeded, destination);
  }
}

function hasRecentOther(times: ReadonlyMap<string, number>, destination: string): boolean {
  const now = performance.now();
  return [...times].some(([other, at]) => other !== destination && now - at < recentMs);
}
