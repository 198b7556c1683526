import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * Loaded into a worker with --import, by a test: the process dies on the spot when it is about to sign a body with this
 * mark, as if that body hit a bug in the runtime. The product knows nothing of it.
 */
const mark = 'this-body-kills';

interface Hashing {
  createHmac(algorithm: string, key: unknown): { update(data: unknown): unknown };
}

const crypto = createRequire(import.meta.url)('node:crypto') as Hashing;
const { createHmac } = crypto;
crypto.createHmac = (algorithm, key) => {
  const hmac = createHmac(algorithm, key);
  const { update } = hmac;
  hmac.update = (data) => {
    if (String(data).includes(mark)) process.kill(process.pid, 'SIGKILL');
    return update.call(hmac, data);
  };
  return hmac;
};
syncBuiltinESMExports();
