import { createRequire, syncBuiltinESMExports } from 'node:module';

/**
 * A campaign loads this into a worker with --import. The process is killed when it is about to sign a body with these
 * words, as if that body hit a bug of the runtime. The product has no hook for it.
 */
const deadlyWords = 'this-body-kills';

interface Hashing {
  createHmac(algorithm: string, key: unknown): { update(data: unknown): unknown };
}

const crypto = createRequire(import.meta.url)('node:crypto') as Hashing;
const { createHmac } = crypto;
crypto.createHmac = (algorithm, key) => {
  const hmac = createHmac(algorithm, key);
  const { update } = hmac;
  hmac.update = (data) => {
    if (String(data).includes(deadlyWords)) process.kill(process.pid, 'SIGKILL');
    return update.call(hmac, data);
  };
  return hmac;
};
syncBuiltinESMExports();
