import { readFileSync } from 'node:fs';
import { areaCatalogue, areaNames, errorCatalogue, eventTypeNames, scopeNames } from '@enterprise-api/shared/contracts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const get = (path: string) => api.call('get', path);
const textOf = async (path: string) => (await get(path).expect(200)).text;

describe('GET /docs', () => {
  it('needs no key, and counts for no limit', async () => {
    const { headers } = await get('/docs').expect(200).expect('Content-Type', 'text/html; charset=utf-8');
    expect(Object.keys(headers).filter((name) => name.includes('ratelimit'))).toEqual([]);
    expect(headers['x-request-id']).toMatch(/^req_/);
    expect(headers['x-content-type-options']).toBe('nosniff');
  });

  it('lets a page load its own files alone, and nothing that is written into it', async () => {
    const { headers } = await get('/docs');
    const policy = headers['content-security-policy']?.split('; ') ?? [];
    expect(policy).toEqual(
      expect.arrayContaining(["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'", "base-uri 'none'"]),
    );
    expect(policy.join()).not.toMatch(/unsafe|https?:|\*|data:|blob:/);
    expect(policy).toContain("require-trusted-types-for 'script'");
  });

  it('is the same for a client that has it already, and asked for again when it changes', async () => {
    const { headers } = await get('/docs').expect('Cache-Control', 'no-cache');
    const again = await get('/docs').set('If-None-Match', headers.etag as string);
    expect([again.status, again.text, again.headers.etag]).toEqual([304, '', headers.etag]);
    await get('/docs').set('If-None-Match', '"another"').expect(200);
  });

  it('has the head of GET as the answer to HEAD', async () => {
    const [head, whole] = await Promise.all([api.call('head', '/docs').expect(200), get('/docs')]);
    expect(head.text).toBeUndefined();
    for (const name of ['content-type', 'content-length', 'etag', 'content-security-policy']) {
      expect(head.headers[name]).toBe(whole.headers[name]);
    }
  });

  it('is 405 for another method, and 404 for a page that is not there', async () => {
    await api.call('post', '/docs').expect(405).expect('Allow', 'GET, HEAD');
    for (const path of ['/docs/', '/docs/nothing', '/docs/assets/../../main.ts', '/docsx']) {
      const { status } = await get(path);
      expect([400, 404]).toContain(status);
    }
  });

  it('is not on the internal listener', async () => {
    await api.internal('get', '/docs').expect(404);
  });

  it('shows nothing of the request', async () => {
    const { text } = await get('/docs?q=%3Cscript%3Eneedle').set('Host', 'needle.example').set('Referer', 'needle');
    expect(text).toBe(await textOf('/docs'));
  });
});

describe('the pages', () => {
  it('load only files of their own, and contain no script, style or handler', async () => {
    const navigation = await textOf('/docs');
    const links = [...navigation.matchAll(/ href="(\/docs[^"#]*)/g)].map(([, path = '']) => path);
    for (const path of new Set(links.filter((link) => !link.includes('/assets/')))) {
      const markup = await textOf(path);
      const loaded = [...markup.matchAll(/<(?:link|script|img|iframe)\b[^>]*? (?:href|src)="([^"]*)"/g)];
      expect(loaded.map(([, address]) => address).filter((address) => !address?.startsWith('/docs/assets/'))).toEqual(
        [],
      );
      expect(markup).not.toMatch(/<style|<script>| style="| on[a-z]+="/);
    }
  });

  it('have every file that they load', async () => {
    const markup = await textOf('/docs');
    const files = [...markup.matchAll(/"(\/docs\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    const script = await textOf('/docs/assets/reference.js');
    const modules = [...script.matchAll(/from '\.\/([^']+)'/g)].map(([, name]) => `/docs/assets/${name}`);
    expect(modules.length).toBeGreaterThan(0);
    for (const file of [...files, ...modules]) await get(file).expect(200);
  });

  it('show every operation of the API itself, with its path, scope and errors', async () => {
    const markup = await textOf('/docs/operations');
    for (const { method, path, operationId, scope } of everyRoute()) {
      if (!path.startsWith('/v1')) continue;
      const start = markup.indexOf(`<h3 id="${operationId}">`);
      expect([operationId, start]).not.toEqual([operationId, -1]);
      const section = markup.slice(start, markup.indexOf('</section>', start));
      expect(section).toContain(`>${method}</span> <code>${path}</code>`);
      expect(section).toMatch(new RegExp(`>Scope <a [^>]*><code>${scope}</code>`));
      expect(section).toContain('#error-rate_limited');
      expect(section).toContain('<h4>curl</h4>');
      expect(section).toContain('>API key</label>');
      expect(section).not.toContain('Scope: ');
    }
  });

  it('leave the operations of other services to the page of the areas', async () => {
    const operations = await textOf('/docs/operations');
    const areas = await textOf('/docs/areas');
    for (const area of areaNames.filter((name) => name !== 'usage')) {
      const { path } = areaCatalogue[area];
      expect(operations).not.toContain(`<code>${path}`);
      expect(areas).toContain(`<code>${path}</code>`);
    }
  });

  it('have one for each event type, with its example, and a title that may break on a phone', async () => {
    for (const type of eventTypeNames) {
      const markup = await textOf(`/docs/events/${type}`);
      expect(markup).toContain(`&quot;${type}&quot;`);
      expect(markup).toContain(`<h1>${type.replaceAll(/(?<=[._])/g, '<wbr>')}</h1>`);
    }
  });

  it('explain every error and every scope', async () => {
    const guide = await textOf('/docs');
    for (const code of Object.keys(errorCatalogue)) expect(guide).toContain(`id="error-${code}"`);
    const areas = await textOf('/docs/areas');
    for (const scope of scopeNames) expect(areas).toContain(`<td><code>${scope}</code></td>`);
  });
});

describe('the guide', () => {
  const guide = readFileSync(new URL('guide/guide.md', import.meta.url), 'utf8');

  it.each([
    ['js', 'README.md'],
    ['python', 'examples/receivers/python/signature.py'],
  ])('verifies signatures with the %s code of %s, which tests run', (language, file) => {
    const [, code = 'none'] = new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(guide) ?? [];
    expect(readFileSync(new URL(`../../../../${file}`, import.meta.url), 'utf8')).toContain(code);
  });
});
