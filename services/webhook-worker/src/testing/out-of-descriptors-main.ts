import { openSync } from 'node:fs';
import { createAddressPolicy } from '@enterprise-api/shared/security';
import { createSender } from '../sender/send.ts';

// A process of its own for a test: it opens files until the system refuses, then sends to the URL that it was given.
const sender = createSender({
  policy: createAddressPolicy({ allowedPrivateCidrs: ['127.0.0.0/8'] }),
  timeoutMs: 5_000,
});
try {
  for (;;) openSync('/dev/null', 'r');
} catch {
  // EMFILE: the state that the test is about.
}
const request = { url: process.argv[2] ?? '', headers: {}, body: Buffer.from('{}') };
process.stdout.write(JSON.stringify(await sender.send(request, { mayStart: () => true })));
