import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { createFixture, type Fixture } from '../testing/send-fixture.ts';

const outOfDescriptors = fileURLToPath(new URL('../testing/out-of-descriptors-main.ts', import.meta.url));
let fixture: Fixture;
beforeEach(async () => {
  fixture = await createFixture();
});
afterEach(() => fixture.close());

it('an attempt of a process without a free file descriptor is connection_refused, and on our side', async () => {
  const receiver = await fixture.receiver();
  const script = 'ulimit -n 200; exec "$0" "$@"';
  const args = ['-c', script, process.execPath, outOfDescriptors, receiver.url('/', '127.0.0.1')];
  const { stdout } = await promisify(execFile)('sh', args);
  expect(JSON.parse(stdout)).toMatchObject({
    code: 'connection_refused',
    message: 'No file descriptor was free on our side. Nothing was sent.',
    localCause: 'file_descriptors',
  });
  expect(receiver.connections()).toBe(0);
});
