import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { testInternalSecret } from '@enterprise-api/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type CommandLine, createCommandLine } from './command-line.ts';
import { type CliStage, openCliStage } from './stage.ts';

describe('enterprise-api login', () => {
  let stage: CliStage;
  let cli: CommandLine;
  let key: string;

  beforeAll(async () => {
    stage = await openCliStage();
    key = stage.customer.key;
  });
  afterAll(async () => await stage[Symbol.asyncDispose]());
  // Without any setting: what is not stored is not there.
  beforeEach(() => {
    cli = createCommandLine();
  });
  afterEach(() => cli[Symbol.dispose]());

  const file = () => join(cli.configFolder, 'enterprise-api/profiles.json');
  const login = (input: string, ...args: string[]) =>
    cli.run(['login', '--api-url', stage.api.url, ...args], { input: `${input}\n` });

  it('stores a key that works, for its owner only, and prints it nowhere', async () => {
    const { code, stdout, stderr } = await login(key);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toContain('for Acme (plan enterprise) with the key "test key"');
    expect(stdout).not.toContain(key);
    expect(statSync(file()).mode & 0o777).toBe(0o600);
    expect(await cli.json(['me'])).toMatchObject({ organization: { id: stage.customer.organizationId } });
    expect((await cli.run(['me'])).stdout).not.toContain(key);
  });

  it('keeps profiles apart', async () => {
    const other = await stage.customer.createKey(stage.customer.organizationId, { name: 'other key' });
    await login(key);
    await login(other.secret, '--profile', 'other');
    expect(await cli.json(['me'])).toMatchObject({ key: { name: 'test key' } });
    expect(await cli.json(['me', '--profile', 'other'])).toMatchObject({ key: { name: 'other key' } });
    const env = { ENTERPRISE_API_PROFILE: 'other' };
    expect(await cli.json(['me'], { env })).toMatchObject({ key: { name: 'other key' } });
    expect(await cli.run(['logout', '--profile', 'other'])).toMatchObject({ code: 0 });
    expect(await cli.run(['me', '--profile', 'other'])).toMatchObject({ code: 3 });
    expect(await cli.run(['me'])).toMatchObject({ code: 0 });
    expect(readFileSync(file(), 'utf8')).not.toContain(other.secret);
  });

  it('stores nothing when the API refuses the key', async () => {
    const { code, stderr } = await login('nwk_wrong');
    expect(code).toBe(3);
    expect(stderr).toContain('401 unauthorized');
    expect(stderr).not.toContain('nwk_wrong');
    expect(() => statSync(file())).toThrow('ENOENT');
  });

  it('takes a key that may not read who it is', async () => {
    const { organizationId, createKey } = stage.customer;
    const { secret } = await createKey(organizationId, { scopes: ['webhooks:read'] });
    expect(await login(secret)).toMatchObject({ code: 0, stdout: expect.stringContaining('lacks the scope me:read') });
    expect(await cli.run(['webhooks', 'list'])).toMatchObject({ code: 0 });
    expect(await cli.run(['me'])).toMatchObject({ code: 4, stderr: expect.stringContaining('scope me:read') });
  });

  it.each([
    ['an empty line', [], '', 'Nothing was entered.'],
    ['a key of characters that no key has', [], 'nwk_ü', 'The secret contains characters'],
  ])('refuses %s', async (_name, args, input, message) => {
    expect(await login(input, ...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('needs an address, and says how to give it', async () => {
    const { code, stderr } = await cli.run(['login'], { input: key });
    expect(code).toBe(2);
    expect(stderr).toContain('Give --api-url, or set ENTERPRISE_API_URL.');
  });

  it('stores the internal secret beside the key', async () => {
    await login(key);
    const args = ['login', '--internal', '--internal-url', stage.api.internalUrl];
    expect(await cli.run(args, { input: 'a-wrong-secret-that-is-long-enough-0123' })).toMatchObject({ code: 3 });
    const { code, stdout } = await cli.run(args, { input: testInternalSecret });
    expect(code).toBe(0);
    expect(stdout).not.toContain(testInternalSecret);
    expect(await cli.json(['orgs', 'list'])).toEqual([expect.objectContaining({ name: 'Acme' })]);
    expect(await cli.run(['me'])).toMatchObject({ code: 0 });
  });

  it('is not needed with settings in the environment, which win', async () => {
    const { secret } = await stage.customer.createKey(stage.customer.organizationId, {
      name: 'key of the environment',
    });
    await login(key);
    expect(await cli.json(['me'], { env: { ENTERPRISE_API_KEY: secret } })).toMatchObject({
      key: { name: 'key of the environment' },
    });
  });
});
