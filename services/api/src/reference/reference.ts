import { readFileSync } from 'node:fs';
import { type StaticFile, staticFile } from '../http/routing/static-file.ts';
import type { JsonObject } from '../openapi/types.ts';
import { layout } from './layout.ts';
import type { OpenApiDocument } from './open-api.ts';
import type { NavigationGroup, Page } from './page.ts';
import { areasPage } from './pages/areas-page.ts';
import { eventNavigation, eventPages } from './pages/event-pages.ts';
import { guideNavigation, guidePage } from './pages/guide-page.ts';
import { objectsPage } from './pages/objects-page.ts';
import { operationsNavigation, operationsPage } from './pages/operations-page.ts';

/**
 * Renders every page, and reads the files that they load. The keys are paths: `/docs`, `/docs/areas`, …
 *
 * @param source the OpenAPI document of the public listener
 */
export function createReference(source: JsonObject): ReadonlyMap<string, StaticFile> {
  const document = source as unknown as OpenApiDocument;
  const pages: Page[] = [guidePage(), ...eventPages(), areasPage(), operationsPage(document), objectsPage(document)];
  const navigation: NavigationGroup[] = [
    guideNavigation(),
    {
      title: 'Reference',
      links: [
        { href: '/docs/operations', label: 'All operations' },
        { href: '/docs/objects', label: 'Objects' },
        { href: '/docs/areas', label: 'Areas and scopes' },
      ],
    },
    eventNavigation(),
    ...operationsNavigation(document),
  ];
  return new Map([
    ...pages.map((page) => [page.path, staticFile('text/html', layout(page, navigation))] as const),
    ...assets().map(([name, content]) => [`/docs/assets/${name}`, content] as const),
  ]);
}

const styles = ['text.css', 'operations.css', 'frame.css', 'forms.css', 'print.css'];
const scripts = ['reference.js', 'filter.js', 'scrolling.js', 'try-it.js', 'request.js', 'answer.js', 'json.js'];

/** The files that pages load, by name. */
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
