import type { SendErrorCode } from './types.ts';

/** Why there is no answer, in one of the public codes and in our own words: never a library's text, never an address. */
export type Failure = { code: SendErrorCode; message: string };

/** Carries a failure through undici. It has no `code`, so that undici makes nothing of its own of it. */
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

const unreachable = new Set(['EHOSTUNREACH', 'ENETUNREACH', 'EHOSTDOWN', 'ENETDOWN', 'EADDRNOTAVAIL', 'EAFNOSUPPORT']);
const closed = new Set(['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'ENOTCONN', 'ERR_STREAM_DESTROYED', 'UND_ERR_SOCKET']);

const notTrusted: Failure = {
  code: 'tls_failed',
  message: 'The certificate is not issued by a trusted authority, or an intermediate certificate is missing.',
};

const certificateMessages: Record<string, string> = {
  CERT_HAS_EXPIRED: 'The certificate has expired.',
  CERT_NOT_YET_VALID: 'The certificate is not valid yet.',
  CERT_REVOKED: 'The certificate has been revoked.',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'The certificate is self-signed.',
  SELF_SIGNED_CERT_IN_CHAIN: notTrusted.message,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: notTrusted.message,
  UNABLE_TO_GET_ISSUER_CERT: notTrusted.message,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: notTrusted.message,
  ERR_TLS_CERT_ALTNAME_INVALID: 'The certificate is not valid for the host of the URL.',
  ERR_SSL_UNSUPPORTED_PROTOCOL: 'The receiver does not offer TLS 1.2 or later.',
  ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION: 'The receiver does not offer TLS 1.2 or later.',
  ERR_SSL_WRONG_VERSION_NUMBER: 'The port of the URL does not speak TLS.',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'The port of the URL does not speak TLS.',
};

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

/** What ends a connection before it stands, by whether TLS had begun. Of several addresses, one that answered tells most. */
export function connectFailure(error: unknown, tlsBegan: boolean): Failure {
  if (error instanceof FailureError) return error.failure;
  if (tlsBegan) return tlsFailure(error);
  const codes = partsOf(error).map(codeOf);
  if (codes.some((code) => closed.has(code))) {
    return { code: 'connection_reset', message: 'The receiver closed the connection while it was being made.' };
  }
  if (codes.includes('ECONNREFUSED')) {
    return { code: 'connection_refused', message: 'The receiver refused the connection.' };
  }
  if (codes.includes('ETIMEDOUT')) {
    return { code: 'timeout', message: 'The receiver did not accept the connection in time.' };
  }
  const message = codes.some((code) => unreachable.has(code))
    ? 'The receiver cannot be reached over the network.'
    : 'The connection to the receiver could not be made.';
  return { code: 'connection_refused', message };
}

/** What ends an exchange on a standing connection before a complete answer. */
export function exchangeFailure(error: unknown): Failure {
  if (error instanceof FailureError) return error.failure;
  const code = codeOf(error);
  if (isTls(code)) return tlsFailure(error);
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection to the receiver broke down.' };
  if (code === 'UND_ERR_HEADERS_OVERFLOW') {
    return { code: 'response_invalid', message: 'The headers of the answer are larger than 16 KiB.' };
  }
  // The parser's errors come with a name and, in this version of undici, mostly without a code.
  const isParsers = nameOf(error) === 'HTTPParserError' || code === 'ERR_ASSERTION';
  if (isParsers || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') {
    return { code: 'response_invalid', message: 'The answer is not valid HTTP/1.1.' };
  }
  // undici has one code for a connection that ended and for an answer that it does not take.
  if (code === 'UND_ERR_SOCKET' && /^bad (?:response|upgrade)$/.test(textOf(error, 'message'))) {
    return { code: 'response_invalid', message: 'The answer is not one that belongs to the request.' };
  }
  return { code: 'connection_reset', message: 'The receiver closed the connection before it answered.' };
}

function tlsFailure(error: unknown): Failure {
  const code = codeOf(error);
  if (closed.has(code)) {
    return { code: 'connection_reset', message: 'The receiver closed the connection during the TLS handshake.' };
  }
  if (code === 'ETIMEDOUT') return { code: 'timeout', message: 'The connection broke down during the TLS handshake.' };
  return { code: 'tls_failed', message: certificateMessages[code] ?? 'The TLS handshake failed.' };
}

function isTls(code: string): boolean {
  return code === 'EPROTO' || code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_');
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
  return Array.isArray(parts) ? parts : [error];
}
