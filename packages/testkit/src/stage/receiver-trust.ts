import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createTemporaryFolder } from '../processes/temporary-folder.ts';
import { createCertificateAuthority, type KeyPairPem } from '../receiver/certificates.ts';

/** A certificate for receivers on this machine, and the file that makes a worker trust it. */
export interface ReceiverTrust extends AsyncDisposable {
  readonly certificate: KeyPairPem;
  /** A certificate for other hosts, by the same authority. */
  issue(hosts: readonly string[]): Promise<KeyPairPem>;
  /** The certificate authority, PEM. */
  readonly ca: string;
  /** WEBHOOK_CA_FILE of a worker. */
  readonly caFile: string;
}

export async function createReceiverTrust(): Promise<ReceiverTrust> {
  const authority = await createCertificateAuthority();
  const certificate = await authority.issue({ hosts: ['localhost', '127.0.0.1'] });
  const folder = createTemporaryFolder('trust');
  const caFile = join(folder.path, 'ca.pem');
  await writeFile(caFile, authority.certificate);
  return {
    certificate,
    issue: (hosts) => authority.issue({ hosts }),
    ca: authority.certificate,
    caFile,
    [Symbol.asyncDispose]: async () => folder[Symbol.dispose](),
  };
}
