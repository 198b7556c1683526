import { expect, it } from '@jest/globals';
import { newUuid, type PublicId, toPublicId, type Uuid } from './ids.ts';
import { createLogger } from './logger.ts';

/** These hold when this file compiles: each line below an expected error must be one. */
it('refuses internal ids in log lines at compile time', () => {
  const lines: string[] = [];
  const log = createLogger('test', 'info', { write: (line: string) => lines.push(line) });
  const uuid: Uuid = newUuid();
  const text: string = uuid;

  log.info({ delivery_id: toPublicId('dlv', uuid), event_ids: [toPublicId('evt', uuid)] }, 'public ids');
  // @ts-expect-error a UUID is not a public id
  log.info({ delivery_id: uuid }, 'a UUID');
  // @ts-expect-error nor is any other text
  log.info({ delivery_id: text }, 'a text');
  // @ts-expect-error the id of something else
  log.info({ delivery_id: toPublicId('evt', uuid) }, 'an event id');
  // @ts-expect-error in a list
  log.info({ event_ids: [uuid] }, 'a list');
  log.info({ request_id: text, attempt: 1, err: new Error('refused') }, 'anything else');
  expect(lines).toHaveLength(6);
});

it('keeps internal and public ids apart at compile time', () => {
  const publicId: PublicId<'evt'> = toPublicId('evt', newUuid());
  // @ts-expect-error a public id is not a UUID
  const uuid: Uuid = publicId;
  // @ts-expect-error nor is it made public twice
  const twice = () => toPublicId('evt', publicId);
  expect([uuid, twice]).toHaveLength(2);
});
