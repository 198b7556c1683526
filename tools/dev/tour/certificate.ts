import { X509Certificate } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCertificateAuthority, readStateFile, writeStateFile } from '@enterprise-api/testkit';
import { z } from 'zod';

export interface ReceiverCertificate {
  /** The demo's certificate authority, PEM, for `curl --cacert`. */
  caFile: string;
  /** The demo's authority and the given ones, for WEBHOOK_CA_FILE. */
  bundleFile: string;
  cert: string;
  key: string;
}

const schema = z.object({ cert: z.string(), key: z.string() });
const dayMs = 86_400_000;

/**
 * The receiver's certificate and its authority, made once and renewed 30 days before they expire. The authority's
 * private key is not kept, so that no other certificate can be made that the worker trusts.
 *
 * @param givenCaFile authorities that the worker trusts besides the demo's
 * @param hosts the names and addresses for which the certificate is valid
 */
export async function loadReceiverCertificate(
  folder: string,
  givenCaFile: string | undefined,
  hosts: readonly string[] = ['127.0.0.1', 'localhost', '::1'],
): Promise<ReceiverCertificate> {
  const caFile = join(folder, 'ca.pem');
  const bundleFile = join(folder, 'ca-bundle.pem');
  const pairFile = join(folder, 'receiver-tls.json');
  const kept = existsSync(caFile) ? readStateFile(pairFile, schema) : undefined;
  const pair = kept && isGood(kept.cert, caFile) ? kept : await makeCertificate(caFile, pairFile, hosts);
  const given = givenCaFile === undefined ? '' : readGiven(givenCaFile);
  writeFileSync(bundleFile, `${readFileSync(caFile, 'utf8').trimEnd()}\n${given}`);
  return { caFile, bundleFile, ...pair };
}

function readGiven(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new Error(`WEBHOOK_CA_FILE cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isGood(cert: string, caFile: string): boolean {
  try {
    const authority = new X509Certificate(readFileSync(caFile));
    const certificate = new X509Certificate(cert);
    return certificate.verify(authority.publicKey) && Date.parse(certificate.validTo) > Date.now() + 30 * dayMs;
  } catch {
    return false;
  }
}

async function makeCertificate(
  caFile: string,
  pairFile: string,
  hosts: readonly string[],
): Promise<z.output<typeof schema>> {
  const authority = await createCertificateAuthority('enterprise-api demo');
  const pair = await authority.issue({ hosts });
  writeFileSync(caFile, authority.certificate);
  writeStateFile(pairFile, pair);
  return pair;
}
