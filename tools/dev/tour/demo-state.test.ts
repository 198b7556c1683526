import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openDemoState } from './demo-state.ts';
import { keyFingerprints, loadGeneratedSecrets } from './generated-secrets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'enterprise-api-state-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('openDemoState', () => {
  const webhook = { id: 'whk_1', secret: 'whsec_1', encryption_key: 'abc' };
  const known = { organization_id: 'org_1', api_key: 'nwk_1', webhook };

  it('keeps its state per database for the next run', () => {
    const file = join(folder, 'state.json');
    const first = openDemoState(file);
    first.setReceiverPort(3443);
    first.setDatabase('embedded', known);
    const second = openDemoState(file);
    expect(second.receiverPort()).toBe(3443);
    expect(second.database('embedded')).toEqual(known);
    expect(second.database('other:5432/db')).toBeUndefined();
    expect(second.database('constructor')).toBeUndefined();
  });

  it('is readable by its owner only', () => {
    const file = join(folder, 'state.json');
    openDemoState(file).setReceiverPort(3443);
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it.each([['{"databases":{"embedded":{"api_key":1}}}'], ['{'], ['']])(
    'starts with an empty state when the file is broken: %s',
    (text) => {
      const file = join(folder, 'state.json');
      writeFileSync(file, text);
      expect(openDemoState(file).database('embedded')).toBeUndefined();
    },
  );
});

describe('loadGeneratedSecrets', () => {
  it('makes the secrets once and keeps them, readable by their owner only', () => {
    const file = join(folder, 'secrets.json');
    const made = loadGeneratedSecrets(file);
    expect(made.encryptionKeys).toMatch(/^local:[A-Za-z0-9+/]{43}=$/);
    expect(made.internalSecret).toMatch(/^[\w-]{43}$/);
    expect(made.eventsSecret).toMatch(/^[\w-]{43}$/);
    expect(made.eventsSecret).not.toBe(made.internalSecret);
    expect(made.identityKeys).toMatch(/^local:[A-Za-z0-9+/]{43}=$/);
    expect(loadGeneratedSecrets(file)).toEqual(made);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readFileSync(file, 'utf8')).toContain(made.internalSecret);
  });
});

describe('loadGeneratedSecrets of an earlier version’s file', () => {
  it('keeps what is there and adds what is missing', () => {
    const file = join(folder, 'secrets.json');
    const before = { encryption_keys: 'local:kept', internal_secret: 'kept'.repeat(8) };
    writeFileSync(file, JSON.stringify(before));
    const secrets = loadGeneratedSecrets(file);
    expect(secrets).toMatchObject({ encryptionKeys: 'local:kept', internalSecret: 'kept'.repeat(8) });
    expect(loadGeneratedSecrets(file)).toEqual(secrets);
  });
});

describe('keyFingerprints', () => {
  it('recognizes a key of the ring without containing it', () => {
    const [old] = keyFingerprints('a:c2VjcmV0');
    expect(keyFingerprints('b:b3RoZXI=, a:c2VjcmV0')).toContain(old);
    expect(keyFingerprints('b:b3RoZXI=')).not.toContain(old);
    expect(old).toMatch(/^[0-9a-f]{16}$/);
  });
});
