import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority } from '@enterprise-api/testkit';

// The other end, in a process of its own so that its work is not counted: reads each request, answers 200.
const authority = await createCertificateAuthority('benchmark');
const certificate = await authority.issue({ hosts: ['localhost'] });
const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume().once('end', () => response.writeHead(200, { 'Content-Length': 2 }).end('ok'));
});
await once(server.listen(0, 'localhost'), 'listening');
process.send?.({ url: `https://localhost:${(server.address() as AddressInfo).port}/`, ca: authority.certificate });
process.once('disconnect', () => process.exit());
