import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { exportJWK, SignJWT } from 'jose';
import { createIdentifyCaller, type IdentifyCaller } from './caller.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const publicJwk = await exportJWK(publicKey);
const server = createServer((request, response) => {
  const keys = [{ ...publicJwk, kid: 'first', alg: 'EdDSA' }];
  response.statusCode = request.url === '/internal/v1/jwks.json' ? 200 : 404;
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }));
});
let identify: IdentifyCaller;

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  identify = createIdentifyCaller(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
});

const token = ({ audience = 'batches', issuer = 'enterprise-api', expires = '5m', key = privateKey } = {}) =>
  new SignJWT({ org: 'org_1', plan: 'business', scopes: ['batches:read'] })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'first' })
    .setIssuer(issuer)
    .setAudience(audience)
    .setSubject('key_1')
    .setIssuedAt()
    .setExpirationTime(expires)
    .sign(key);

it('tells who sent a request, by its identity token', async () => {
  expect(await identify(await token(), 'batches')).toEqual({
    organizationId: 'org_1',
    keyId: 'key_1',
    plan: 'business',
    scopes: ['batches:read'],
  });
});

it.each([
  ['for another area', () => token({ audience: 'consultations' })],
  ['of another issuer', () => token({ issuer: 'somebody' })],
  ['that has expired', () => token({ expires: '-1s' })],
  ['that another key has signed', () => token({ key: generateKeyPairSync('ed25519').privateKey })],
  ['that is none', async () => 'a.b.c'],
  ['that is missing', async () => undefined],
])('refuses a token %s: unauthorized', async (_, made) => {
  await expect(identify(await made(), 'batches')).rejects.toMatchObject({ name: 'RequestError', code: 'unauthorized' });
});

it.each([
  ['a 503', 503, 'application/json', '{}'],
  ['a 429', 429, 'application/json', '{}'],
  ['a page of HTML', 200, 'text/html', '<html></html>'],
  ['JSON that is no key set', 200, 'application/json', '{}'],
])('says service_unavailable where the keys are answered with %s', async (_, status, type, body) => {
  const broken = createServer((_request, response) => {
    response.writeHead(status, { 'Content-Type': type }).end(body);
  });
  await once(broken.listen(0, '127.0.0.1'), 'listening');
  try {
    const ask = createIdentifyCaller(`http://127.0.0.1:${(broken.address() as AddressInfo).port}`);
    await expect(ask(await token(), 'batches')).rejects.toMatchObject({ code: 'service_unavailable' });
  } finally {
    broken.closeAllConnections();
    broken.close();
  }
});

it('says that it cannot tell while the keys cannot be read: service_unavailable', async () => {
  const alone = createIdentifyCaller('http://127.0.0.1:9');
  await expect(alone(await token(), 'batches')).rejects.toMatchObject({ code: 'service_unavailable' });
});
