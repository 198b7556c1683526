// A webhook receiver: verify, record, answer, then work. README.md says how to run it.
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { verifyWebhook, WebhookVerificationError } from '@enterprise-api/sdk/webhooks';
import express from 'express';
import { openRecordedEvents } from './recorded-events.mjs';

const { WEBHOOK_SECRET, DATABASE_FILE, HOST, PORT, TLS_CERT_FILE, TLS_KEY_FILE } = process.env;
if (!WEBHOOK_SECRET) throw new Error('Set WEBHOOK_SECRET to the secret that POST /v1/webhooks returned.');
const secret = WEBHOOK_SECRET.split(',');
const events = openRecordedEvents(DATABASE_FILE ?? 'events.db');
const app = express().disable('x-powered-by').enable('strict routing');

// The signature covers the bytes as they arrived: `raw`, never `json`. Its own limit is 100 KB; an event may have 256 KiB.
app.post('/webhooks', express.raw({ type: 'application/json', limit: '1mb' }), async (request, response) => {
  const rawBody = request.body ?? '';
  const event = await verifyWebhook({ headers: request.headers, rawBody, secret, toleranceSeconds: 300 });
  events.record(event.id, rawBody.toString());
  response.status(204).end();
  setImmediate(work);
});

app.use((error, _request, response, _next) => {
  if (error instanceof WebhookVerificationError) return void response.status(401).end(error.message);
  // For example the event could not be recorded: after a 500 it is sent again later.
  console.error(error);
  response.status(error.status ?? 500).end();
});

/** Works on what is recorded, also by an earlier run that was killed between its answer and its work. */
function work() {
  for (const event of events.unhandled()) {
    try {
      handle(event);
      events.markHandled(event.id);
    } catch (error) {
      console.error(`${event.id} stays recorded and is tried again`, error);
    }
  }
}

function handle(event) {
  console.log('handled', event.id, event.type, JSON.stringify(event.data));
}

const server = TLS_CERT_FILE
  ? createHttpsServer({ cert: readFileSync(TLS_CERT_FILE), key: readFileSync(TLS_KEY_FILE) }, app)
  : createHttpServer(app);
// The sender keeps an idle connection for 30 seconds. Close it later than that, so that no request meets the end.
server.keepAliveTimeout = 65_000;
work();
server.listen(Number(PORT ?? 8080), HOST ?? '127.0.0.1', () => console.log('listening on port', server.address().port));
