import { readFileSync } from 'node:fs';
import type { IngressName } from '@enterprise-api/testkit';

/** Where a test's ingress listens, and what it connects to. */
export interface Places {
  port: number;
  /** Ports of the API's processes: public, and internal. */
  api: readonly { port: number; internalPort: number }[];
  /** Port of the service behind every area. */
  upstreamPort: number;
  certificateFile: string;
  keyFile: string;
  /** The file that nginx includes for the secret. */
  nginxAuthorizationFile: string;
  caddySocket: string;
}

const files: Record<IngressName, URL> = {
  nginx: new URL('../../examples/ingress/nginx.conf', import.meta.url),
  caddy: new URL('../../examples/ingress/Caddyfile', import.meta.url),
};

/** The configuration of `examples/ingress/`, with the places of a test instead of its own. */
export function ingressConfiguration(name: IngressName, places: Places): string {
  let text = readFileSync(files[name], 'utf8');
  for (const [from, to] of Object.entries(replacements[name](places))) {
    if (!text.includes(from)) throw new Error(`${files[name].pathname} does not contain ${from}.`);
    text = text.replaceAll(from, to);
  }
  return text;
}

const replacements: Record<IngressName, (places: Places) => Record<string, string>> = {
  nginx: ({ port, api, upstreamPort, certificateFile, keyFile, nginxAuthorizationFile }) => ({
    'listen 443 ': `listen 127.0.0.1:${port} `,
    '/etc/nginx/tls/api.example.com.pem': certificateFile,
    '/etc/nginx/tls/api.example.com.key': keyFile,
    '/etc/nginx/enterprise-api-authorization.conf': nginxAuthorizationFile,
    'server 127.0.0.1:3000 max_fails=0;': api
      .map((process) => `server 127.0.0.1:${process.port} max_fails=0;`)
      .join(' '),
    'server 127.0.0.1:3001 max_fails=0;': api
      .map(({ internalPort }) => `server 127.0.0.1:${internalPort} max_fails=0;`)
      .join(' '),
    'server 127.0.0.1:8080;': `server 127.0.0.1:${upstreamPort};`,
    'server 127.0.0.1:8081;': `server 127.0.0.1:${upstreamPort};`,
    'server 127.0.0.1:8082;': `server 127.0.0.1:${upstreamPort};`,
  }),
  caddy: ({ port, api, upstreamPort, certificateFile, keyFile, caddySocket }) => ({
    '\n:443 {': `\n:${port} {\n\tbind 127.0.0.1`,
    '/etc/caddy/tls/api.example.com.pem': certificateFile,
    '/etc/caddy/tls/api.example.com.key': keyFile,
    '/var/lib/caddy/admin.sock': caddySocket,
    'reverse_proxy 127.0.0.1:3000': `reverse_proxy ${api.map((process) => `127.0.0.1:${process.port}`).join(' ')}`,
    'forward_auth 127.0.0.1:3001': `forward_auth ${api.map((process) => `127.0.0.1:${process.internalPort}`).join(' ')}`,
    '127.0.0.1:8080': `127.0.0.1:${upstreamPort}`,
    '127.0.0.1:8081': `127.0.0.1:${upstreamPort}`,
    '127.0.0.1:8082': `127.0.0.1:${upstreamPort}`,
  }),
};
