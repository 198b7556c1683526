import type { AttemptError } from '@enterprise-api/shared/contracts';
import { BoundedMap } from '@enterprise-api/shared/runtime';

/** Codes that sending itself can find; the other ones of {@link AttemptError} come from an answer or from the caller. */
export type SendErrorCode = Exclude<AttemptError, 'redirect' | 'http_error' | 'secret_unavailable'>;

/** Why an attempt failed on our side: no file descriptor or local port was free, no route, or no name server. */
export type LocalCause = 'file_descriptors' | 'local_ports' | 'network' | 'resolver';

/** Why there is no answer, in a public code and in our own words: never a library's text, never an address. */
export type Failure = {
  code: SendErrorCode;
  message: string;
  /** Set when the failure is ours. */
  localCause?: LocalCause;
};

/** Carries a failure through undici. It has no `code` property, which undici would interpret. */
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
  message: 'The receiver sends informational responses without end.',
};

/** Says nothing about the receiver: no request reached it. */
const localFailures: Record<string, Failure> = {
  EMFILE: ours('connection_refused', 'file_descriptors', 'No file descriptor was free on our side. Nothing was sent.'),
  ENFILE: ours('connection_refused', 'file_descriptors', 'No file descriptor was free on our side. Nothing was sent.'),
  EADDRNOTAVAIL: ours('connection_refused', 'local_ports', 'No local port was free on our side. Nothing was sent.'),
};

const networkDown = ours(
  'connection_refused',
  'network',
  'Our network has no route to this address family, so the failure is on our side. Nothing was sent.',
);

/** A look-up that failed because our name servers do not answer for names in general. */
export function resolverDown({ code, message }: Failure): Failure {
  return ours(code, 'resolver', `${message} It is on our side, because other names fail too. Nothing was sent.`);
}

const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EAFNOSUPPORT']);
const closed = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ENOTCONN', 'ERR_STREAM_DESTROYED', 'UND_ERR_SOCKET']);

/** Whether the name servers gave no answer about the name, and may give one later. */
export function isTemporaryDnsError(error: unknown): boolean {
  const code = codeOf(error);
  return code !== 'ENOTFOUND' && code !== 'ENODATA' && code !== 'EBADNAME';
}

/** What ends a name's resolution. */
export function dnsFailure(error: unknown): Failure {
  const code = codeOf(error);
  const message =
    code === 'ENOTFOUND' || code === 'ENODATA'
      ? 'The host name of the URL has no address.'
      : code === 'ETIMEOUT'
        ? 'The name servers did not answer in time.'
        : 'The name servers could not resolve the host name of the URL.';
  return { code: 'dns_failed', message };
}

/** No route leads to any of the addresses that were tried. */
export function isWithoutRoute(error: unknown): boolean {
  return partsOf(error).every((part) => codeOf(part) === 'ENETUNREACH' || codeOf(part) === 'ENETDOWN');
}

/**
 * What ends a TCP connection before it is made. Of several addresses, the error of one that answered says most.
 *
 * @param isNetworkDown whether other destinations are without a route too
 */
export function connectFailure(error: unknown, isNetworkDown: boolean): Failure {
  if (error instanceof FailureError) return error.failure;
  const codes = partsOf(error).map(codeOf);
  if (codes.some((code) => closed.has(code))) {
    return { code: 'connection_reset', message: 'The receiver closed the connection while it was being made.' };
  }
  if (codes.includes('ECONNREFUSED')) {
    return { code: 'connection_refused', message: 'The receiver refused the connection.' };
  }
  const local = codes.map((code) => localFailures[code]).find((failure) => failure !== undefined);
  if (local !== undefined) return local;
  if (codes.includes('ETIMEDOUT')) {
    return { code: 'timeout', message: 'The receiver did not accept the connection in time.' };
  }
  if (isNetworkDown && isWithoutRoute(error)) return networkDown;
  const message = codes.some((code) => unreachable.has(code))
    ? 'The receiver cannot be reached over the network.'
    : 'The connection to the receiver could not be made.';
  return { code: 'connection_refused', message };
}

/** What ends an exchange on a standing connection before a complete answer. */
export function exchangeFailure(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = codeOf(error);
  if (isTlsError(code)) return tlsFailure(error, false);
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection to the receiver broke down.' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { code: 'response_invalid', message: 'The headers of the answer are larger than 16 KiB.' };
  }
  // The parser's errors come with a name and, in this version of undici, mostly without a code.
  const isParserError = nameOf(error) === 'HTTPParserError' || code === 'ERR_ASSERTION';
  if (isParserError || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { code: 'response_invalid', message: 'The answer is not valid HTTP/1.1.' };
  }
  // undici has one code for a connection that ended and for an answer that it refuses.
  if (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(textOf(error, 'message'))) {
    return { code: 'response_invalid', message: 'The answer is not one that belongs to the request.' };
  }
  return { code: 'connection_reset', message: 'The receiver closed the connection before it answered.' };
}

/**
 * What ends a TLS handshake, or a standing connection by an alert.
 *
 * @param sawCertificate whether the receiver's certificate had come. A handshake refused after that was refused because we
 *   showed no client certificate (TLS 1.2 has no alert of its own for this)
 */
export function tlsFailure(error: unknown, sawCertificate: boolean): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = codeOf(error);
  if (closed.has(code)) {
    return { code: 'connection_reset', message: 'The receiver closed the connection during the TLS handshake.' };
  }
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection broke down during the TLS handshake.' };
  const isRefused = handshakeRefused.has(code);
  const known = isRefused && sawCertificate ? clientCertificateDemanded : tlsMessages[code];
  return { code: 'tls_failed', message: known ?? 'The TLS handshake failed.' };
}

const notTrusted = 'The certificate is not issued by a trusted authority, or an intermediate certificate is missing.';
const versionTooOld = 'The receiver does not offer TLS 1.2 or later.';
const notTls = 'The port of the URL does not speak TLS.';
const clientCertificateDemanded = 'The receiver demands a client certificate. Deliveries carry none.';
const nothingInCommon = 'The receiver accepts no TLS version, cipher or curve that deliveries offer.';
/** OpenSSL spells the alert's name in two ways, by version. */
const handshakeRefused = new Set(['ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE', 'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE']);

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
  ...Object.fromEntries([...handshakeRefused].map((code) => [code, nothingInCommon])),
  ERR_SSL_NO_SHARED_CIPHER: nothingInCommon,
  ERR_SSL_TLSV1_ALERT_INSUFFICIENT_SECURITY: nothingInCommon,
  ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL: 'The receiver does not offer HTTP/1.1 over TLS (ALPN).',
  ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED: clientCertificateDemanded,
  ERR_SSL_TLSV1_UNRECOGNIZED_NAME: 'The receiver has no certificate for the host of the URL.',
  ERR_SSL_DH_KEY_TOO_SMALL: 'The key that the receiver offers is too short.',
  ERR_SSL_EE_KEY_TOO_SMALL: 'The key of the certificate is too short.',
};

function isTlsError(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
}

function ours(code: SendErrorCode, localCause: LocalCause, message: string): Failure {
  return { code, message, localCause };
}

export function codeOf(error: unknown): string {
  return textOf(error, 'code');
}

function nameOf(error: unknown): string {
  return textOf(error, 'name');
}

/** By shape, not by class: an error may come from another realm (a `node:vm` context) or another copy of a library. */
function textOf(error: unknown, property: 'code' | 'message' | 'name'): string {
  const value: unknown = typeof error === 'object' && error !== null ? Reflect.get(error, property) : undefined;
  return typeof value === 'string' ? value : '';
}

/** The errors of all addresses that were tried, or the one error. */
function partsOf(error: unknown): unknown[] {
  const parts = typeof error === 'object' && error !== null && 'errors' in error ? error.errors : null;
  return Array.isArray(parts) && parts.length > 0 ? parts : [error];
}

/** What happened longer ago says nothing about now. */
const recentMs = 60_000;
/** So many failing destinations show an outage as well as a thousand do. */
const maxFailing = 8;

/**
 * Tells an outage on our side from a failure of one destination. A failure is ours when another destination has failed
 * in the same way since one last succeeded.
 */
export class OutageRecord {
  readonly #monotonic: () => number;
  /** Destinations that have failed since the last success, and when they last did. */
  readonly #failing = new BoundedMap<string, number>(maxFailing);
  /** The last success, and the last one of another destination than that. */
  #last = { destination: '', at: Number.NEGATIVE_INFINITY };
  #lastOther = Number.NEGATIVE_INFINITY;
  /** Whether a destination has failed since the last success. A field, because every answer asks. */
  hasFailures = false;

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  succeeded(destination: string): void {
    if (this.hasFailures) this.#failing.clear();
    this.hasFailures = false;
    if (this.#last.destination !== destination) {
      this.#lastOther = this.#last.at;
      this.#last = { destination, at: 0 };
    }
    this.#last.at = this.#monotonic();
  }

  /** @returns whether another destination has failed since the last success */
  failed(destination: string): boolean {
    const now = this.#monotonic();
    this.#failing.set(destination, now);
    this.hasFailures = true;
    for (const [other, at] of this.#failing) if (other !== destination && now - at < recentMs) return true;
    return false;
  }

  /** Whether another destination succeeded within the last minute. */
  othersSucceed(destination: string): boolean {
    const at = this.#last.destination === destination ? this.#lastOther : this.#last.at;
    return this.#monotonic() - at < recentMs;
  }
}
