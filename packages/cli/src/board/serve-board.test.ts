import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from '@jest/globals';
import { Failure } from '../failure.ts';
import type { InternalApi } from '../internal/client.ts';
import { type ServedBoard, serveBoard } from './serve-board.ts';

const at = '2026-11-21T07:00:00.000Z';
const queue = { name: 'events', is_paused: false, waiting: 0, active: 0, delayed: 0, failed: 1, workers: null };
const hostile = '<script>alert("1")</script>';
const job = { id: hostile, name: 'fan-out', added_at: at, attempts: 1, failed_reason: hostile, event_ids: [] };

/** What the internal listener tells of a queue whose jobs anybody may have added, while the ledger does not answer. */
const api: Pick<InternalApi, 'get'> = {
  get: async <Body>(path: string) => {
    if (path !== '/internal/v1/queue-jobs') throw new Failure('unavailable', 'The ledger does not answer.');
    return { queues: [queue], queue: 'events', state: 'failed', jobs: [job] } as Body;
  },
};

async function ask(url: URL, options: { path?: string; method?: string; headers?: Record<string, string> } = {}) {
  const { path = url.pathname, method = 'GET', headers = {} } = options;
  const sent = request({ host: url.hostname, port: url.port, path, method, headers });
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve).once('error', reject).end();
  });
  return { status: answer.statusCode, headers: answer.headers, text: await text(answer) };
}

const boards: ServedBoard[] = [];
/** Closed after the test, also when it fails: a server that listens keeps its process. */
async function open(from: Pick<InternalApi, 'get'>): Promise<ServedBoard> {
  const board = await serveBoard(from);
  boards.push(board);
  return board;
}
afterEach(() => Promise.all(boards.splice(0).map((board) => board.close())));

describe('the queue board', () => {
  it('shows names and reasons of jobs as text, whatever they contain', async () => {
    const board = await open(api);
    const url = new URL(board.url);
    const page = await ask(url, { path: `${url.pathname}?queue=events&state=failed` });
    expect(page.status).toBe(200);
    expect(page.text).not.toContain('<script');
    expect(page.text).toContain('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;');
  });

  it('asks again by itself when what it shows could not be read', async () => {
    const failing = { get: () => Promise.reject(new Failure('unavailable', 'The queue does not answer.')) };
    const board = await open(failing);
    const page = await ask(new URL(board.url));
    expect([page.status, page.headers.refresh, page.text]).toEqual([502, '5', 'The queue does not answer.']);
  });

  it.each([
    ['a name that leads here', 421, { headers: { host: 'rebound.example.com' } }],
    ['another site', 403, { headers: { 'sec-fetch-site': 'cross-site' } }],
    ['another origin of this machine', 403, { headers: { 'sec-fetch-site': 'same-site' } }],
    ['a method that changes something', 405, { method: 'POST' }],
    ['a request without its path', 404, { path: '/' }],
    ['a target with a host of its own', 404, { path: '//other/' }],
  ])('refuses %s', async (_what, status, options) => {
    const board = await open(api);
    const answer = await ask(new URL(board.url), options);
    expect([answer.status, answer.headers['cache-control']]).toEqual([status, 'no-store']);
    expect(answer.headers['content-security-policy']).toContain("default-src 'none'");
  });
});
