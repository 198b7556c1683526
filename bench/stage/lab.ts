import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, type KeyPairPem, type Peer, startPeer } from '@enterprise-api/testkit';
import type { GeneratorCalls } from '../generator/load.ts';
import { cores, pinnedTo } from '../processes/pinning.ts';
import type { ReceiverCalls } from '../receiver/calls.ts';
import { type Stores, startStores } from './stores.ts';
import { addressesPerNetwork, networkOf, networks } from './subscriptions.ts';

/** Shared by all runs: stores, a load generator, a receiver. */
export interface Lab extends AsyncDisposable {
  readonly stores: Stores;
  readonly generator: Peer<GeneratorCalls>;
  readonly receiver: Peer<ReceiverCalls>;
  readonly receiverPort: number;
  /** The authority of the receiver's certificates, PEM. */
  readonly ca: string;
  readonly caFile: string;
}

export async function openLab(say: (line: string) => void): Promise<Lab> {
  await using building = new AsyncDisposableStack();
  const stores = building.use(await startStores(say));
  const onBenchCore = { prefix: pinnedTo(cores.bench) };
  const generator = building.use(
    await startPeer<GeneratorCalls>(new URL('../generator/main.ts', import.meta.url), onBenchCore),
  );
  const receiver = building.use(
    await startPeer<ReceiverCalls>(new URL('../receiver/main.ts', import.meta.url), onBenchCore),
  );
  const { ca, certificates } = await issueCertificates();
  const caFile = join(stores.folder, 'ca.pem');
  writeFileSync(caFile, ca);
  const { port } = await receiver.call('open', { certificates });
  const resources = building.move();
  return {
    stores,
    generator,
    receiver,
    receiverPort: port,
    ca,
    caFile,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** One certificate for each 100 addresses: one with 1,000 names would dominate the cost of a handshake. */
async function issueCertificates(): Promise<{ ca: string; certificates: Record<string, KeyPairPem> }> {
  const authority = await createCertificateAuthority('Benchmark CA');
  const certificates: Record<string, KeyPairPem> = {};
  for (const network of networks) {
    const hosts = Array.from({ length: addressesPerNetwork }, (_, index) => `${network}.${index + 1}`);
    certificates[network] = await authority.issue({ hosts });
  }
  certificates[networkOf('127.0.0.1')] = await authority.issue({ hosts: ['127.0.0.1', 'localhost'] });
  return { ca: authority.certificate, certificates };
}
