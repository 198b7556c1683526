import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { TlsOptions } from 'node:tls';
import { createCertificateAuthority, createSelfSigned, type ReceiverOptions } from '@enterprise-api/testkit';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { always, createFixture, type Fixture, isFailure, isResponse, requestTo } from '../testing/send-fixture.ts';

let fixture: Fixture;
beforeAll(async () => {
  fixture = await createFixture();
});
afterAll(() => fixture.close());

const hosts = ['localhost', '127.0.0.1'];
const dayMs = 86_400_000;

async function sendTo(options: Partial<ReceiverOptions>, host = 'localhost') {
  const receiver = await fixture.receiver(options);
  const result = await fixture.sender().send(requestTo(receiver.url('/', host)), always);
  return { result, receiver };
}

describe('a certificate', () => {
  it('of an authority that the operator added is trusted', async () => {
    expect(isResponse((await sendTo({})).result).statusCode).toBe(200);
  });

  it.each<[string, () => Promise<Partial<ReceiverOptions>>, string]>([
    [
      'signed by itself',
      async () => ({ certificate: await createSelfSigned({ hosts }) }),
      'The certificate is self-signed.',
    ],
    [
      'of an unknown authority',
      async () => ({ certificate: await (await createCertificateAuthority('Other CA')).issue({ hosts }) }),
      'No trusted authority issued the certificate, or an intermediate certificate is missing.',
    ],
    [
      'that has expired',
      async () => ({
        certificate: await fixture.ca.issue({ hosts, notBefore: daysFromNow(-9), notAfter: daysFromNow(-1) }),
      }),
      'The certificate has expired.',
    ],
    [
      'from the future',
      async () => ({
        certificate: await fixture.ca.issue({ hosts, notBefore: daysFromNow(1), notAfter: daysFromNow(9) }),
      }),
      'The certificate is not valid yet.',
    ],
    [
      'for another name',
      async () => ({ certificate: await fixture.ca.issue({ hosts: ['example.com'] }) }),
      'The certificate is not valid for the host of the URL.',
    ],
  ])('%s is tls_failed, and no byte of HTTP is sent', async (_, options, message) => {
    const { result, receiver } = await sendTo(await options());
    expect(isFailure(result)).toMatchObject({ code: 'tls_failed', message });
    expect(receiver.requests).toEqual([]);
  });
});

describe('a certificate for the name alone', () => {
  it('is not one for its address', async () => {
    const { result } = await sendTo({ certificate: await fixture.ca.issue({ hosts: ['localhost'] }) }, '127.0.0.1');
    expect(isFailure(result).code).toBe('tls_failed');
  });
});

describe('TLS', () => {
  it.each(['TLSv1.2', 'TLSv1.3'] as const)('%s is spoken', async (version) => {
    const { result } = await sendTo({ tls: { minVersion: version, maxVersion: version } });
    expect(isResponse(result).statusCode).toBe(200);
  });

  it.each(['TLSv1', 'TLSv1.1'] as const)('%s is tls_failed', async (version) => {
    const tls = { minVersion: version, maxVersion: version, ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    expect(isFailure((await sendTo({ tls })).result).code).toBe('tls_failed');
  });

  it('is not spoken by a plain HTTP server: tls_failed', async () => {
    const server = createServer(
      (socket) => void socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    fixture.onClose(() => server.close());
    const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
    expect(isFailure(await fixture.sender().send(requestTo(url), always)).code).toBe('tls_failed');
  });

  it('asks for HTTP/1.1 only', async () => {
    const { result } = await sendTo({ tls: { ALPNProtocols: ['h2'] } });
    const message = 'The receiver does not offer HTTP/1.1 over TLS (ALPN).';
    expect(isFailure(result)).toMatchObject({ code: 'tls_failed', message });
  });

  it.each<[string, TlsOptions]>([
    ['cipher', { maxVersion: 'TLSv1.2', ciphers: 'AES128-SHA@SECLEVEL=0' }],
    ['curve', { minVersion: 'TLSv1.3', ecdhCurve: 'brainpoolP256r1' }],
  ])('without a %s in common is tls_failed, and says so', async (_, tls) => {
    const message = 'The receiver accepts no TLS version, cipher or curve that deliveries offer.';
    expect(isFailure((await sendTo({ tls })).result)).toMatchObject({ code: 'tls_failed', message });
  });

  it.each(['TLSv1.2', 'TLSv1.3'] as const)(
    'carries no certificate of ours: a receiver that demands one under %s is tls_failed, and is told apart',
    async (version) => {
      const ca = fixture.ca.certificate;
      const tls = {
        requestCert: true,
        rejectUnauthorized: true,
        minVersion: version,
        maxVersion: version,
        ca,
      } as const;
      const message = 'The receiver demands a client certificate. Deliveries carry none.';
      expect(isFailure((await sendTo({ tls })).result)).toMatchObject({ code: 'tls_failed', message });
    },
  );
});

function daysFromNow(days: number): Date {
  return new Date(Date.now() + days * dayMs);
}
