// A webhook receiver that trusts nothing before it has verified the signature. Needs Node.js alone:
//   WEBHOOK_SECRET=whsec_… node receiver.mjs
// Put your TLS proxy in front of it: deliveries are sent to https:// only.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that POST /v1/webhooks returned.');
const seen = new Set(); // In production: a table with a unique key on the event's id.

const server = createServer((request, response) => {
  // Whoever hangs up half way must not take the process down.
  receive(request, response).catch(() => response.destroy());
});

async function receive(request, response) {
  // The signature covers the bytes as they came: parse them only afterwards.
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);

  if (!isSigned(body, request.headers['x-service-signature'])) {
    response.writeHead(401).end();
    return;
  }
  // Answer first, work afterwards: an answer that takes too long counts as a failure and is sent again.
  response.writeHead(204).end();

  const event = JSON.parse(body.toString('utf8'));
  // A delivery comes at least once, and sometimes twice; its event's id is always the same.
  if (seen.has(event.id)) return;
  seen.add(event.id);
  handle(event);
}

function isSigned(body, signature) {
  const expected = createHmac('sha256', secret).update(body).digest();
  const given = Buffer.from(String(signature), 'hex');
  // Constant time, so that the answer's delay tells a forger nothing.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function handle(event) {
  console.log(event.type, event.id, event.timestamp, event.data);
}

server.listen(Number(process.env.PORT ?? 8080), () => console.log(`listening on port ${server.address().port}`));
