import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, type KeyPairPem } from '@enterprise-api/testkit';
import type { GeneratorCalls } from '../generator/load.ts';
import { type Peer, startPeer } from '../processes/peer.ts';
import { cores } from '../processes/pinning.ts';
import type { ReceiverCalls } from '../receiver/calls.ts';
import { addressesPerNetwork, networkOf, networks } from './addresses.ts';
import { type Stores, startStores } from './stores.ts';

/** What all runs share: stores, a load generator, a receiver. */
export interface Lab extends AsyncDisposable {
  readonly stores: Stores;
  readonly generator: Peer<GeneratorCalls>;
  readonly receiver: Peer<ReceiverCalls>;
  readonly receiverPort: number;
  /** The authority that the receiver's certificates are from. */
  readonly ca: string;
  readonly caFile: string;
}

export async function openLab(say: (line: string) => void): Promise<Lab> {
  await using building = new AsyncDisposableStack();
  const stores = building.use(await startStores(say));
  const onOurCore = { core: cores.ours };
  const generator = building.use(
    await startPeer<GeneratorCalls>(new URL('../generator/main.ts', import.meta.url), onOurCore),
  );
  const receiver = building.use(
    await startPeer<ReceiverCalls>(new URL('../receiver/main.ts', import.meta.url), onOurCore),
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

/** One certificate for each hundred addresses: with a thousand in it, a handshake would be mostly certificate. */
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
