import { expect, it } from '@jest/globals';
import type { Sink } from '../http/routing/streamed.ts';
import { type OpenStream, OpenStreams } from './open-streams.ts';

const organizationId = '01940000-0000-7000-8000-000000000001';

function openOne(load: () => Promise<null>) {
  const written: string[] = [];
  const announced: string[] = [];
  const ending = new AbortController();
  const streams = new OpenStreams({
    keys: { peek: () => undefined, load },
    nowMs: () => 0,
    read: () => new Promise(() => undefined),
    findNewer: async () => [],
    announce: (id) => announced.push(id),
    onError: () => undefined,
    random: () => 0.5,
  });
  const sink = { end: (text: string) => written.push(text) } as unknown as Sink;
  const stream = { organizationId, keyDigest: 'digest', sink, ending } as unknown as OpenStream;
  streams.add(stream);
  return { streams, written, announced, ending };
}

it('tells clients when to come back where the keys cannot be looked up, and nothing where a key is refused', async () => {
  const away = openOne(async () => {
    throw new Error('The database is away.');
  });
  await away.streams.checkKeys();
  expect([away.ending.signal.reason, away.written]).toEqual(['failed', ['retry: 2000\n\n']]);

  const refused = openOne(async () => null);
  await refused.streams.checkKeys();
  expect([refused.ending.signal.reason, refused.written]).toEqual(['not_granted', ['']]);
});

it('announces an organization when its first stream opens, and at every look', async () => {
  const { streams, announced } = openOne(async () => null);
  expect(announced).toEqual([organizationId]);
  await streams.look();
  expect(announced).toEqual([organizationId, organizationId]);
});
