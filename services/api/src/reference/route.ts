import { readFileSync } from 'node:fs';
import type { RequestHandler } from 'express';
import type { Route } from '../http/routing/define-route.ts';
import { sendAnswer } from '../http/routing/respond.ts';
import { pagePolicy, type StaticFile, sendStaticFile, staticFile } from '../http/routing/static-file.ts';
import { requestContextOf } from '../http/server/request-context.ts';
import { refuseMethod } from '../http/server/serve-fixed.ts';
import { createDocument } from '../openapi/document.ts';
import type { JsonObject } from '../openapi/types.ts';
import { type Download, downloadsFolder, readDownloads } from './downloads.ts';
import { fillInWith, type GuideSettings } from './guide-values.ts';
import { layout, type NavigationGroup, type Page } from './layout.ts';
import type { OpenApiDocument } from './open-api.ts';
import { areasPage } from './pages/areas-page.ts';
import { downloadsPage } from './pages/downloads-page.ts';
import { eventNavigation, eventPages } from './pages/event-pages.ts';
import { guideNavigation, guidePages } from './pages/guide-pages.ts';
import { objectsPage } from './pages/objects-page.ts';
import { operationsNavigation, operationsPage } from './pages/operations-page.ts';

/**
 * Serves `/docs` and below without a key. The first request renders all pages. Other paths pass to the next handler.
 */
export function referenceRoute<Access>(routes: readonly Route<Access>[], settings: GuideSettings): RequestHandler {
  let files: ReadonlyMap<string, Reference> | undefined;
  return (request, response, next) => {
    const context = requestContextOf(response);
    if (!/^\/docs(?:\/|$)/.test(context.target.path)) return next();
    files ??= createReference(createDocument('public', routes), settings);
    const file = files.get(context.target.path);
    if (file === undefined) return next();
    context.route = '/docs';
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response);
    if ('location' in file) {
      const headers = { Location: file.location, 'Cache-Control': 'no-store' };
      return sendAnswer(response, { status: 302, headers, body: '' });
    }
    sendStaticFile(request, response, file.content, file.headers);
  };
}

type Reference = { location: string } | { content: StaticFile; headers: Readonly<Record<string, string>> };

/**
 * Renders every page and reads its assets. The keys are paths: `/docs`, `/docs/areas`, …
 *
 * @param source the OpenAPI document of the public listener
 */
function createReference(source: JsonObject, settings: GuideSettings): ReadonlyMap<string, Reference> {
  const document = source as unknown as OpenApiDocument;
  const fillIn = fillInWith(settings);
  const downloads = readDownloads(downloadsFolder);
  const pages: Page[] = [
    ...guidePages(fillIn),
    downloadsPage(downloads, fillIn),
    ...eventPages(),
    areasPage(fillIn),
    operationsPage(document),
    objectsPage(document),
  ];
  const navigation: NavigationGroup[] = [
    guideNavigation(),
    {
      title: 'Reference',
      links: [
        { href: '/docs/operations', label: 'All operations' },
        { href: '/docs/objects', label: 'Objects' },
        { href: '/docs/areas', label: 'Areas and scopes' },
        { href: '/docs/downloads', label: 'Downloads' },
      ],
    },
    eventNavigation(),
    ...operationsNavigation(document),
  ];
  const headers = { 'Content-Security-Policy': pagePolicy };
  return new Map<string, Reference>([
    ...pages.map(
      (page) => [page.path, { content: staticFile('text/html', layout(page, navigation)), headers }] as const,
    ),
    ...assets().map(([name, content]) => [`/docs/assets/${name}`, { content, headers }] as const),
    ...downloads.flatMap(downloadRoutes),
  ]);
}

/** A version's file never changes. The address without a version is for `npx`, which must not cache the redirect. */
function downloadRoutes({ name, path, file }: Download): [path: string, Reference][] {
  const headers = { 'Cache-Control': 'public, max-age=31536000, immutable' };
  return [
    [path, { content: file, headers }],
    [`/docs/downloads/${name}.tgz`, { location: path }],
  ];
}

const styles = ['text.css', 'operations.css', 'frame.css', 'forms.css', 'print.css'];
const scripts = [
  'reference.js',
  'address.js',
  'filter.js',
  'scrolling.js',
  'try-it.js',
  'request.js',
  'answer.js',
  'json.js',
];

function assets(): [name: string, content: StaticFile][] {
  return [
    ['reference.css', staticFile('text/css', styles.map((name) => readAsset(`styles/${name}`)).join('\n'))],
    ...scripts.map((name): [string, StaticFile] => [name, staticFile('text/javascript', readAsset(`scripts/${name}`))]),
    ['icon.svg', staticFile('image/svg+xml', readAsset('icon.svg'))],
  ];
}

function readAsset(name: string): string {
  return readFileSync(new URL(`assets/${name}`, import.meta.url), 'utf8');
}
