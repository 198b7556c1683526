import { newUuid, toPublicId } from '@enterprise-api/shared/runtime';
import { until } from '@enterprise-api/testkit';
import { expect, it } from '@jest/globals';
import type { Sink } from '../http/routing/streamed.ts';
import type { FeedEvent, Place } from './organization-feed.ts';
import { type SendLimits, sendEvents } from './send-events.ts';

const start: Place = { position: 0, id: newUuid() };
const beginning = toPublicId('evt', start.id);
const limits: SendLimits = { bufferedBytes: 1_000, slowMs: 60_000, commentEveryMs: 60_000 };

/** A client that takes what was written when `read` is called. */
function slowClient() {
  const written: string[] = [];
  const state = { buffered: 0, most: 0, isCut: false, drain: (): void => undefined };
  const sink: Sink = {
    write: (text) => {
      written.push(text);
      state.buffered += text.length;
      state.most = Math.max(state.most, state.buffered);
      return false;
    },
    bufferedBytes: () => state.buffered,
    drained: () =>
      new Promise((resolve) => {
        state.drain = resolve;
      }),
    end: () => undefined,
    cut: () => {
      state.isCut = true;
    },
  };
  const read = () => {
    state.buffered = 0;
    state.drain();
  };
  return { sink, written, state, read };
}

/** A feed of so many events, ten a page, that then has nothing more until the stream ends. */
function feedOf(count: number) {
  const events = Array.from(
    { length: count },
    (_, nth): FeedEvent => ({ position: nth + 1, id: newUuid(), type: 'batch.failed', body: 'x'.repeat(100) }),
  );
  const next = async (after: Place, ended: AbortSignal) => {
    const page = events.filter(({ position }) => position > after.position).slice(0, 10);
    if (page.length === 0) await new Promise((resolve) => ended.addEventListener('abort', resolve, { once: true }));
    return page;
  };
  return { events, feed: { next } };
}

const planOver = (feed: { next: ReturnType<typeof feedOf>['feed']['next'] }) => ({
  feed,
  from: start,
  known: null,
  name: beginning,
  asked: null,
  streamId: newUuid(),
  patterns: new Set(['*']),
  secret: 'whsec_AAAA',
  now: () => 0,
});

it('reads no further than its client, and sends everything once and in order', async () => {
  const { events, feed } = feedOf(50);
  const { sink, written, state, read } = slowClient();
  const ending = new AbortController();
  const sending = sendEvents(planOver(feed), sink, ending.signal, limits);
  const isAllSent = () => {
    read();
    return written.length === 51;
  };
  await until('all is sent', isAllSent);
  ending.abort();
  expect(await sending).toBe('ended');
  const ids = written.slice(1).map((text) => /"webhook-id":"(evt_\w+)"/.exec(text)?.[1]);
  expect(new Set(ids).size).toBe(events.length);
  expect(written.slice(1).every((text) => /^id: evt_\w{26}\ndata: [^\n]+\n\n$/.test(text))).toBe(true);
  const longest = Math.max(...written.map((text) => text.length));
  expect(state.most).toBeLessThanOrEqual(limits.bufferedBytes + longest);
});

it('reads a page again after its client was slow, because an erasure may have removed events from it', async () => {
  const { events, feed } = feedOf(10);
  const { sink, written, state, read } = slowClient();
  const ending = new AbortController();
  const sending = sendEvents(planOver(feed), sink, ending.signal, { ...limits, bufferedBytes: 100 });
  await until('the client is slow', () => state.buffered > 100);
  const slowSince = performance.now();
  const [erased] = events.splice(-1);
  await until('the page is old', () => performance.now() - slowSince > 2_100);
  const isAllSent = () => {
    read();
    return written.length === 10;
  };
  await until('the rest is sent', isAllSent);
  ending.abort();
  await sending;
  expect(written.join('')).not.toContain(toPublicId('evt', erased?.id ?? ''));
});

it('cuts a client that stays slow', async () => {
  const { feed } = feedOf(50);
  const { sink, state } = slowClient();
  const sending = sendEvents(planOver(feed), sink, new AbortController().signal, { ...limits, slowMs: 20 });
  expect(await sending).toBe('slow');
  expect(state.isCut).toBe(true);
});

it('ends while its client is slow', async () => {
  const { feed } = feedOf(50);
  const { sink, state } = slowClient();
  const ending = new AbortController();
  const sending = sendEvents(planOver(feed), sink, ending.signal, limits);
  await until('the client is slow', () => state.buffered > limits.bufferedBytes);
  ending.abort();
  expect(await sending).toBe('ended');
  expect(state.isCut).toBe(false);
});

it('sends a comment now and then, while there is nothing else to send; the first one names the place', async () => {
  const { feed } = feedOf(0);
  const { sink, written, read } = slowClient();
  const ending = new AbortController();
  const sending = sendEvents(planOver(feed), sink, ending.signal, { ...limits, commentEveryMs: 10 });
  const comments = () => {
    read();
    return written.filter((text) => text === ':\n\n').length >= 3;
  };
  await until('three comments', comments);
  ending.abort();
  await sending;
  expect(written.slice(1, 4)).toEqual([`:\nid: ${beginning}\n\n`, ':\n\n', ':\n\n']);
});

it('names in a comment the last event that its patterns left out, and none that its client knows', async () => {
  const { events, feed } = feedOf(25);
  const last = toPublicId('evt', events.at(-1)?.id ?? '');
  const isSpoken = (written: readonly string[]) => written.filter((text) => text === ':\n\n').length >= 2;
  for (const [plan, named] of [
    [{ ...planOver(feed), patterns: new Set(['consultation.*']) }, [last]],
    [{ ...planOver(feed) }, []],
    [{ ...planOver(feedOf(0).feed), asked: beginning }, []],
  ] as const) {
    const { sink, written, read } = slowClient();
    const ending = new AbortController();
    const sending = sendEvents(plan, sink, ending.signal, { ...limits, commentEveryMs: 10 });
    await until('two comments', () => {
      read();
      return isSpoken(written);
    });
    ending.abort();
    await sending;
    // Comments may come before the feed has answered, and between its pages.
    const comments = written.filter((text) => text.startsWith(':') && !text.includes(beginning));
    const places = comments.filter((text) => text !== ':\n\n');
    expect(places.slice(-1)).toEqual(named.map((id) => `:\nid: ${id}\n\n`));
    expect(new Set(places).size).toBe(places.length);
  }
});
