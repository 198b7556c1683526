import { describe, expect, it } from '@jest/globals';
import { createBehaviour } from './behaviour.ts';
import { readHead } from './request-head.ts';
import { RequestLog } from './request-log.ts';

const eventId = '01jd6kz5r8e2v9qxm3c7t4b0na';

describe('readHead', () => {
  it('reads webhook, event, attempt and length, however the headers are written', () => {
    const lines = [
      'POST /w/17 HTTP/1.1',
      'content-length: 12',
      `X-Service-Event-Id: evt_${eventId}`,
      'X-Service-Attempt: 2',
    ];
    expect(readHead(lines.join('\r\n'))).toEqual({ webhook: 17, eventId, attempt: 2, contentLength: 12 });
  });
});

describe('createBehaviour', () => {
  it('answers 503 or nothing to the webhooks of its script, and 503 to every n-th first attempt elsewhere', () => {
    const answer = createBehaviour({ failing: [1], hanging: [2], failFirstAttemptsEvery: 3 });
    expect([answer(1, 1), answer(2, 1)]).toEqual([503, 0]);
    const answers = [answer(3, 1), answer(3, 1), answer(4, 1), answer(3, 1), answer(3, 2), answer(4, 1)];
    expect(answers).toEqual([200, 200, 200, 503, 200, 503]);
  });
});

describe('RequestLog', () => {
  const head = { webhook: 3, eventId, attempt: 1, contentLength: 0 };

  it('returns the requests since a position', () => {
    const log = new RequestLog();
    log.add(head, 503);
    const position = log.position();
    log.add({ ...head, webhook: 4 }, 200);
    const received = log.since(position);
    expect([...received.webhooks]).toEqual([4]);
    expect(Buffer.from(received.eventIds).toString()).toBe(eventId);
    expect(log.countAccepted(0)).toBe(1);
  });

  it('keeps all requests when it grows', () => {
    const log = new RequestLog();
    const count = 70_000;
    for (let number = 0; number < count; number++) log.add({ ...head, webhook: number % 100 }, 200);
    const { webhooks } = log.since({ requests: 0, connections: 0 });
    expect(webhooks).toHaveLength(count);
    expect(webhooks.every((webhook, index) => webhook === index % 100)).toBe(true);
  });

  it('keeps the first request after a position whole, and then one in 102', () => {
    const log = new RequestLog();
    const kept = () =>
      Array.from({ length: 300 }, () => {
        log.add(head, 200);
        return log.wantsSample();
      });
    expect(kept().filter(Boolean)).toHaveLength(3);
    log.position();
    expect(kept()[0]).toBe(true);
  });
});
