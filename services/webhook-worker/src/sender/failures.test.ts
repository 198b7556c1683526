import { constants } from 'node:os';
import { attemptErrors } from '@enterprise-api/shared/contracts';
import { describe, expect, it } from '@jest/globals';
import { errors } from 'undici';
import {
  connectFailure,
  destinationBlocked,
  dnsFailure,
  exchangeFailure,
  type Failure,
  FailureError,
  type LocalCause,
  resolverDown,
  tlsFailure,
} from './failures.ts';

function error(code: string, message = 'connect ECONNREFUSED 10.1.2.3:443'): Error {
  return Object.assign(new Error(message), { code });
}

describe('a failure to connect', () => {
  it.each([
    ['ECONNREFUSED', 'connection_refused'],
    ['EHOSTUNREACH', 'connection_refused'],
    ['ENETUNREACH', 'connection_refused'],
    ['EADDRNOTAVAIL', 'connection_refused'],
    ['EACCES', 'connection_refused'],
    ['EMFILE', 'connection_refused'],
    ['ECONNRESET', 'connection_reset'],
    ['ETIMEDOUT', 'timeout'],
  ])('%s is %s', (code, expected) => expect(connectFailure(error(code), false).code).toBe(expected));

  it('on several addresses is what the one that answered said', () => {
    const all = (...codes: string[]) => new AggregateError(codes.map((code) => error(code)));
    expect(connectFailure(all('ENETUNREACH', 'ECONNREFUSED'), false).message).toMatch('refused');
    expect(connectFailure(all('ETIMEDOUT', 'ECONNREFUSED'), false).code).toBe('connection_refused');
    expect(connectFailure(all('ENETUNREACH', 'ETIMEDOUT'), false).code).toBe('timeout');
    expect(connectFailure(all('ECONNRESET', 'ECONNREFUSED'), false).code).toBe('connection_reset');
  });
});

describe('a failure of our own side', () => {
  it.each<[string, LocalCause | undefined]>([
    ['EMFILE', 'file_descriptors'],
    ['ENFILE', 'file_descriptors'],
    ['EADDRNOTAVAIL', 'local_ports'],
    ['ENETUNREACH', undefined],
    ['EHOSTUNREACH', undefined],
    ['ECONNREFUSED', undefined],
    ['ETIMEDOUT', undefined],
  ])('%s has the local cause %s', (code, cause) => {
    expect(connectFailure(error(code), false).localCause).toBe(cause);
  });

  it('is a network without a route to any address, where other destinations have none either', () => {
    const all = (...codes: string[]) => new AggregateError(codes.map((code) => error(code)));
    const causeOf = (thrown: Error) => connectFailure(thrown, true).localCause;
    expect(causeOf(error('ENETUNREACH'))).toBe('network');
    expect(causeOf(all('ENETUNREACH', 'ENETUNREACH'))).toBe('network');
    expect(causeOf(all('ENETUNREACH', 'ECONNREFUSED'))).toBeUndefined();
    expect(causeOf(all('ENETUNREACH', 'EHOSTUNREACH'))).toBeUndefined();
  });

  it('says so in words, under the same public code', () => {
    expect(connectFailure(error('EMFILE'), false)).toMatchObject({
      code: 'connection_refused',
      message: expect.stringContaining('on our side'),
    });
    const silent = dnsFailure(error('ETIMEOUT'));
    expect(resolverDown(silent)).toMatchObject({ code: 'dns_failed', message: expect.stringContaining('on our side') });
  });
});

describe('a failure of TLS', () => {
  it.each([
    ['CERT_HAS_EXPIRED', 'tls_failed'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls_failed'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls_failed'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls_failed'],
    ['EPROTO', 'tls_failed'],
    ['something new', 'tls_failed'],
    ['ECONNRESET', 'connection_reset'],
    ['EPIPE', 'connection_reset'],
    ['ETIMEDOUT', 'timeout'],
  ])('%s is %s', (code, expected) => expect(tlsFailure(error(code), false).code).toBe(expected));
});

describe('a failure after the request', () => {
  it.each<[string, Error, string]>([
    ['reset', error('ECONNRESET'), 'connection_reset'],
    ['broken pipe', error('EPIPE'), 'connection_reset'],
    ['end', new errors.SocketError('other side closed'), 'connection_reset'],
    ['a client that is gone', new errors.ClientDestroyedError(), 'connection_reset'],
    ['unasked answer', new errors.SocketError('bad response'), 'response_invalid'],
    ['upgrade', new errors.SocketError('bad upgrade'), 'response_invalid'],
    ['parser', new errors.HTTPParserError('Invalid header value char'), 'response_invalid'],
    ['headers', new errors.HeadersOverflowError(), 'response_invalid'],
    ['length', new errors.ResponseContentLengthMismatchError(), 'response_invalid'],
    ['parser state', error('ERR_ASSERTION'), 'response_invalid'],
    ['TLS alert', error('ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED'), 'tls_failed'],
    ['kernel timeout', error('ETIMEDOUT'), 'timeout'],
    ['ours', new FailureError(destinationBlocked), 'destination_blocked'],
  ])('%s', (_, thrown, expected) => expect(exchangeFailure(thrown).code).toBe(expected));
});

describe('every failure', () => {
  const codes = [
    ...Object.keys(constants.errno),
    'ENOTFOUND',
    'ENODATA',
    'ESERVFAIL',
    'ETIMEOUT',
    'EREFUSED',
    'EBADRESP',
  ];
  const ways: [string, (thrown: unknown) => Failure][] = [
    ['dns', dnsFailure],
    ['connect', (thrown) => connectFailure(thrown, false)],
    ['connect, without a network', (thrown) => connectFailure(thrown, true)],
    ['tls', (thrown) => tlsFailure(thrown, false)],
    ['tls, after the certificate', (thrown) => tlsFailure(thrown, true)],
    ['dns, without name servers', (thrown) => resolverDown(dnsFailure(thrown))],
    ['exchange', exchangeFailure],
  ];

  it.each(ways)('of %s has a public code and words of our own', (_, map) => {
    const thrown = [
      ...codes.map((code) => error(code)),
      new Error('10.1.2.3'),
      'text',
      null,
      undefined,
      {},
      new AggregateError([]),
    ];
    for (const each of thrown) {
      const { code, message } = map(each);
      expect(attemptErrors).toContain(code);
      expect(message).toMatch(/^[A-Z][^\d:]*(?:16 KiB|HTTP\/1\.1|TLS 1\.2)?[^\d:]*\.$/);
      expect(message.length).toBeLessThanOrEqual(200);
    }
  });
});
