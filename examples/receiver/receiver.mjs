// A webhook receiver: verify, record, answer, then work. Needs Node.js 22.13 or newer and nothing else:
//   WEBHOOK_SECRET=whsec_… node receiver.mjs
// Deliveries are sent to https:// only: put a TLS proxy in front of it.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { DatabaseSync } from 'node:sqlite';

const secret = process.env.WEBHOOK_SECRET;
if (!secret) throw new Error('Set WEBHOOK_SECRET to the secret that POST /v1/webhooks returned.');

// On disk, because after a 2xx the event is not sent again. The primary key recognizes repeated deliveries.
const database = new DatabaseSync(process.env.DATABASE_FILE ?? 'events.db');
database.exec('create table if not exists events (id text primary key, body text not null, handled integer default 0)');
const insert = database.prepare('insert into events (id, body) values (?, ?) on conflict do nothing');
const unhandled = database.prepare('select id, body from events where handled = 0 order by rowid');
const markHandled = database.prepare('update events set handled = 1 where id = ?');

const server = createServer(async (request, response) => {
  try {
    response.writeHead(await receive(request)).end();
    setImmediate(handleRecorded);
  } catch (error) {
    // The event could not be recorded: after a 5xx it is sent again later.
    console.error(error);
    response.writeHead(500).end();
  }
});

async function receive(request) {
  // The signature covers the bytes as they arrived: verify before parsing.
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (!isSigned(body, request.headers['x-service-signature'])) return 401;
  // The same event may be delivered more than once, always with the same id (also in the header webhook-id).
  insert.run(JSON.parse(body).id, body.toString());
  return 204;
}

function isSigned(body, signature) {
  const expected = createHmac('sha256', secret).update(body).digest();
  const given = Buffer.from(/^[0-9a-f]{64}$/.test(signature) ? signature : '', 'hex');
  // In constant time: the duration of the comparison must not reveal where it failed.
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** Works on what is recorded, also by an earlier run that was killed between its answer and its work. */
function handleRecorded() {
  for (const { id, body } of unhandled.all()) {
    try {
      handle(JSON.parse(body));
      markHandled.run(id);
    } catch (error) {
      console.error(`${id} stays recorded and is tried again`, error);
    }
  }
}

function handle(event) {
  console.log(event.type, event.id, event.timestamp, event.data);
}

handleRecorded();
server.listen(Number(process.env.PORT ?? 8080), () => console.log(`listening on port ${server.address().port}`));
