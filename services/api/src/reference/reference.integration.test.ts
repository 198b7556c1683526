import { globSync, readFileSync } from 'node:fs';
import {
  areaCatalogue,
  areaNames,
  errorCatalogue,
  eventTypeNames,
  keyScopeNames,
  scopeNames,
} from '@enterprise-api/shared/contracts';
import { version } from '@enterprise-api/shared/runtime';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everyRoute } from '../testing/route-list.ts';
import { startTestApi, type TestApi } from '../testing/test-api.ts';

const folder = new URL('../../../../docs/customers/', import.meta.url);

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
      const needs = scope === null ? '>Needs a key, with any scope<' : `>Scope <a [^>]*><code>${scope}</code>`;
      expect(section).toMatch(new RegExp(needs));
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
      const { path, below } = areaCatalogue[area];
      expect(operations).not.toContain(`<code>${path}`);
      expect(areas).toContain(`<code>${path}</code>`);
      expect(areas.includes(`Path and query below ${path}<`)).toBe(below);
    }
  });

  it('have one for each event type, with its example, and a title that may break on a phone', async () => {
    for (const type of eventTypeNames) {
      const markup = await textOf(`/docs/events/${type}`);
      expect(markup).toContain(`&quot;${type}&quot;`);
      expect(markup).toContain(`<h1>${type.replaceAll(/(?<=[._])/g, '<wbr>')}</h1>`);
    }
  });

  it('of events show neither Markdown nor bounds that every integer has', async () => {
    const pages = await Promise.all(
      ['', ...eventTypeNames.map((type) => `/${type}`)].map((path) => textOf(`/docs/events${path}`)),
    );
    expect(pages.filter((page) => page.includes('`') || page.includes(String(Number.MAX_SAFE_INTEGER)))).toEqual([]);
  });

  it('explain every error and every scope', async () => {
    const errors = await textOf('/docs/errors');
    for (const code of Object.keys(errorCatalogue)) expect(errors).toContain(`id="error-${code}"`);
    const areas = await textOf('/docs/areas');
    for (const scope of scopeNames) expect(areas).toContain(`<td><code>${scope}</code></td>`);
    for (const scope of keyScopeNames) expect(areas).toContain(`<code>${scope}</code>`);
  });
});

describe('the guide', () => {
  const names = globSync('*.md', { cwd: folder }).map((file) => file.replace('.md', ''));
  const pathOf = (name: string) => (name === 'quick-start' ? '/docs' : `/docs/${name}`);
  const sourceOf = (name: string) => readFileSync(new URL(`${name}.md`, folder), 'utf8');

  it.each(names)('has %s in its navigation, with the title and the code of the repository', async (name) => {
    const source = sourceOf(name);
    const markup = await textOf(pathOf(name));
    const [, title = 'none'] = /^# (.+)$/m.exec(source) ?? [];
    expect(markup).toContain(`<h1>${title}</h1>`);
    expect(await textOf('/docs')).toContain(`<a href="${pathOf(name)}"`);
    const blocks = [...source.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) =>
      code.trimEnd().replaceAll(/-\d+\.\d+\.\d+\.tgz/g, `-${version}.tgz`),
    );
    for (const block of blocks) expect(decoded(markup)).toContain(block);
  });

  it('shows the numbers of this API, which are by default those of the repository', async () => {
    await using other = await startOther({
      API_RATE_LIMITS: 'pro=7',
      API_UPSTREAM_MAX_BODY: '5MiB',
      WEBHOOK_TIMEOUT_MS: '1500',
      WEBHOOK_RETRY_SCHEDULE: '90s,3h',
      WEBHOOK_RETRY_JITTER: '0.5',
      RETENTION_BODIES: '36h',
      RETENTION_HISTORY: '0s',
      WEBHOOK_SOURCE_ADDRESSES: '192.0.2.0/24,198.51.100.7',
    });
    for (const name of names) {
      const usual = [...sourceOf(name).matchAll(/<!--(\w+)-->(.*?)<!---->/g)].filter(([, key]) => key !== 'errors');
      const markup = decoded(await textOf(pathOf(name)));
      for (const [, , words = 'none'] of usual) expect(markup).toContain(words.replaceAll('`', ''));
      expect(markup).not.toMatch(/<!--(?!\w+ )/);
    }
    const { text } = await other.call('get', '/docs/call-the-api');
    expect(text).toContain('7 on pro, 1,200 on business');
    expect(text).toContain('in an area 5 MiB');
    const [receive, retention, addresses] = await Promise.all(
      ['receive', 'retention', 'source-addresses'].map(async (name) => (await other.call('get', `/docs/${name}`)).text),
    );
    expect(receive).toContain('may take 1,500 milliseconds');
    expect(receive).toContain('at most 3 attempts. The delays between them are 90 s and 3 h, together 3 hours');
    expect(receive).toContain('up to 50 % longer');
    expect(retention).toMatch(/>36 hours, and at most a day longer<.*>without limit</s);
    expect(addresses).toContain('<code>192.0.2.0/24</code> and <code>198.51.100.7</code>');
  });

  it('shows API_PUBLIC_URL in its commands', async () => {
    await using other = await startOther({ API_PUBLIC_URL: 'https://api.acme.test' });
    const { text } = await other.call('get', '/docs').set('Host', 'needle.example');
    expect(text).toContain('export API=https://api.acme.test\n');
    expect(text).not.toMatch(/api\.example\.com|needle/);
    expect(await textOf('/docs')).toContain('export API=https://api.example.com\n');
  });

  it('links only to pages and places that exist', async () => {
    const pages = new Map<string, string>();
    const navigation = await textOf('/docs');
    for (const [, path = ''] of navigation.matchAll(/<a href="(\/docs[^"#]*)/g)) pages.set(path, await textOf(path));
    const broken = [...pages].flatMap(([path, markup]) => {
      const links = [...markup.matchAll(/<a[^>]* href="([^"#]*)(?:#([^"]*))?"/g)];
      return links.filter(([, page = '', anchor]) => {
        if (/^https:|^\/openapi/.test(page)) return false;
        const target = pages.get(page === '' ? path : page);
        return target === undefined || (anchor !== undefined && !target.includes(`id="${anchor}"`));
      });
    });
    expect(broken.map(([link]) => link)).toEqual([]);
  });
});

async function startOther(environment: Record<string, string>) {
  const other = await startTestApi({ environment });
  return { ...other, [Symbol.asyncDispose]: () => other.stop() };
}

function decoded(markup: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return markup.replace(/&(amp|lt|gt|quot|#39);/g, (_all, name: string) => entities[name] ?? '');
}
