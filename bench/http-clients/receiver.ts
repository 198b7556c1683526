import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createCertificateAuthority } from '@enterprise-api/testkit';
import { answerCalls } from '@enterprise-api/testkit/peer-calls';

// The receiver reads each request and answers 200. It is a process of its own, so that its work is not counted.
export type ReceiverCalls = { address: (_: null) => { url: string; ca: string } };

const authority = await createCertificateAuthority('benchmark');
const certificate = await authority.issue({ hosts: ['localhost'] });
const server = createServer({ ...certificate, keepAliveTimeout: 60_000 }, (request, response) => {
  request.resume().once('end', () => response.writeHead(200, { 'Content-Length': 2 }).end('ok'));
});
await once(server.listen(0, 'localhost'), 'listening');
const url = `https://localhost:${(server.address() as AddressInfo).port}/`;
answerCalls({ address: () => ({ url, ca: authority.certificate }) } satisfies ReceiverCalls);
