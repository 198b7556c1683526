import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Request, RequestHandler, Response } from 'express';
import type { ConsoleSettings } from '../auth/console-judge.ts';
import { problem } from '../http/problem.ts';
import { sendAnswer, sendJson, sendProblem } from '../http/routing/respond.ts';
import { pagePolicy } from '../http/routing/static-file.ts';
import { forbidStorage, requestContextOf } from '../http/server/request-context.ts';
import { refuseMethod } from '../http/server/serve-fixed.ts';

/** The image's build and `make start` put the pages here. */
const consoleFolder = fileURLToPath(new URL('../../../../packages/console/dist', import.meta.url));

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
};

/** A file in each encoding. The build compresses the files, so that no request has to. */
interface PageFile {
  readonly type: string;
  readonly plain: Buffer;
  readonly br?: Buffer;
  readonly gzip?: Buffer;
}

/** Serves the console's pages and files, and its configuration, from memory and without a session. */
export function consolePages(settings: ConsoleSettings): RequestHandler {
  const page = readPage(consoleFolder, 'index.html', 'text/html; charset=utf-8');
  const logo = settings.brand?.logo ? Buffer.from(settings.brand.logo, 'base64') : undefined;
  const logoName = logo && `logo-${hash('sha256', logo, 'hex').slice(0, 8)}.png`;
  const files = readFiles(join(consoleFolder, 'assets'));
  if (logo !== undefined && logoName !== undefined) files.set(logoName, { type: 'image/png', plain: logo });
  const brand = settings.brand && { name: settings.brand.name, logo: logoName ? `/console/assets/${logoName}` : null };
  return (request, response, next) => {
    const context = requestContextOf(response);
    const { path } = context.target;
    if (!/^\/console(?:\/|$)/.test(path)) return next();
    context.route = '/console';
    forbidStorage(response);
    if (request.method !== 'GET' && request.method !== 'HEAD') return refuseMethod(response);
    if (path === '/console/config.json') return sendJson(response, { sign_in_url: settings.signInUrl, brand });
    const [, name] = /^\/console\/assets\/([^/]+)$/.exec(path) ?? [];
    const file = name === undefined ? (isPage(path) ? page : undefined) : files.get(name);
    if (file === undefined) return sendProblem(response, problem('not_found'));
    sendPageFile(request, response, file, name === undefined ? 'no-cache' : 'public, max-age=31536000, immutable');
  };
}

function isPage(path: string): boolean {
  return /^\/console(?:\/?|\/enter|\/org_[0-9a-z]{26}(?:\/.*)?)$/.test(path);
}

function sendPageFile(request: Request, response: Response, file: PageFile, caching: string): void {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = (['br', 'gzip'] as const).find((name) => file[name] !== undefined && accepts(accepted, name));
  const headers = {
    'Cache-Control': caching,
    'Content-Type': file.type,
    'Content-Security-Policy': pagePolicy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Referrer-Policy': 'no-referrer',
    Vary: 'Accept-Encoding',
    ...(encoding !== undefined && { 'Content-Encoding': encoding }),
  };
  sendAnswer(response, { headers, body: (encoding && file[encoding]) ?? file.plain });
}

function accepts(header: string, encoding: string): boolean {
  return header.split(',').some((part) => {
    const [name = '', quality = ''] = part.split(';').map((text) => text.trim());
    return name === encoding && !/^q=0(?:\.0*)?$/.test(quality);
  });
}

function readFiles(folder: string): Map<string, PageFile> {
  const files = new Map<string, PageFile>();
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const type = types[name.slice(name.lastIndexOf('.') + 1)];
    const file = type === undefined ? undefined : readPage(folder, name, type);
    if (file !== undefined) files.set(name, file);
  }
  return files;
}

function readPage(folder: string, name: string, type: string): PageFile | undefined {
  const path = join(folder, name);
  if (!existsSync(path)) return undefined;
  const compressed = (ending: string) => (existsSync(path + ending) ? readFileSync(path + ending) : undefined);
  const [br, gzip] = [compressed('.br'), compressed('.gz')];
  return { type, plain: readFileSync(path), ...(br && { br }), ...(gzip && { gzip }) };
}
