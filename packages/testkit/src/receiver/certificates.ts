import { randomBytes, webcrypto } from 'node:crypto';
import { isIP } from 'node:net';
import type { JsonGeneralName, X509Certificate } from '@peculiar/x509';

/** A certificate and its private key, both PEM. */
export type KeyPairPem = { cert: string; key: string };

export type LeafOptions = {
  /** Names and IP addresses that the certificate is for. */
  hosts: readonly string[];
  /** Default: an hour ago. */
  notBefore?: Date;
  /** Default: in a year. */
  notAfter?: Date;
};

export type CertificateAuthority = {
  /** PEM, for `ca` of a client or `WEBHOOK_CA_FILE`. */
  certificate: string;
  issue(options: LeafOptions): Promise<KeyPairPem>;
};

/** Loaded by the first certificate: most suites make none. */
async function x509() {
  await import('reflect-metadata');
  return import('@peculiar/x509');
}

const hourMs = 3_600_000;
const yearMs = 365 * 24 * hourMs;
const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;

/** A certificate authority that exists in memory only. Clients must be told to trust it. */
export async function createCertificateAuthority(name = 'Test CA'): Promise<CertificateAuthority> {
  const { BasicConstraintsExtension, KeyUsageFlags, KeyUsagesExtension, X509CertificateGenerator } = await x509();
  const keys = await newKeys();
  const authority = await X509CertificateGenerator.createSelfSigned(
    {
      serialNumber: serialNumber(),
      name: `CN=${name}`,
      ...validity({}),
      signingAlgorithm: algorithm,
      keys,
      extensions: [
        new BasicConstraintsExtension(true, 0, true),
        new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      ],
    },
    webcrypto,
  );
  return {
    certificate: authority.toString('pem'),
    issue: (options) => issue(options, { certificate: authority, key: keys.privateKey }),
  };
}

/** A self-signed certificate. */
export async function createSelfSigned(options: LeafOptions): Promise<KeyPairPem> {
  const { X509CertificateGenerator } = await x509();
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.createSelfSigned({ ...(await leaf(options)), keys }, webcrypto);
  return toPem(certificate, keys.privateKey);
}

async function issue(
  options: LeafOptions,
  issuer: { certificate: X509Certificate; key: webcrypto.CryptoKey },
): Promise<KeyPairPem> {
  const { X509CertificateGenerator } = await x509();
  const keys = await newKeys();
  const certificate = await X509CertificateGenerator.create(
    {
      ...(await leaf(options)),
      subject: 'CN=Test receiver',
      issuer: issuer.certificate.subject,
      publicKey: keys.publicKey,
      signingKey: issuer.key,
    },
    crypto,
  );
  return toPem(certificate, keys.privateKey);
}

async function leaf(options: LeafOptions) {
  const {
    BasicConstraintsExtension,
    ExtendedKeyUsage,
    ExtendedKeyUsageExtension,
    KeyUsageFlags,
    KeyUsagesExtension,
    SubjectAlternativeNameExtension,
  } = await x509();
  const names = options.hosts.map((host): JsonGeneralName => ({ type: isIP(host) === 0 ? 'dns' : 'ip', value: host }));
  return {
    serialNumber: serialNumber(),
    name: 'CN=Test receiver',
    ...validity(options),
    signingAlgorithm: algorithm,
    extensions: [
      new BasicConstraintsExtension(false),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth, ExtendedKeyUsage.clientAuth]),
      new SubjectAlternativeNameExtension(names),
    ],
  };
}

function validity({ notBefore, notAfter }: Partial<LeafOptions>): { notBefore: Date; notAfter: Date } {
  const now = Date.now();
  return { notBefore: notBefore ?? new Date(now - hourMs), notAfter: notAfter ?? new Date(now + yearMs) };
}

async function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
}

/** Positive and unique: TLS clients cache by issuer and serial number. */
function serialNumber(): string {
  return `01${randomBytes(15).toString('hex')}`;
}

async function toPem(certificate: X509Certificate, privateKey: webcrypto.CryptoKey): Promise<KeyPairPem> {
  const der = Buffer.from(await webcrypto.subtle.exportKey('pkcs8', privateKey));
  const body = der.toString('base64').match(/.{1,64}/g) ?? [];
  const key = ['-----BEGIN PRIVATE KEY-----', ...body, '-----END PRIVATE KEY-----', ''].join('\n');
  return { cert: certificate.toString('pem'), key };
}
