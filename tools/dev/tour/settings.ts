import {
  commaList,
  commonSecrets,
  commonSettings,
  type Environment,
  parseEnvironment,
  portSchema,
  settingNames,
} from '@enterprise-api/shared/runtime';
import { z } from 'zod';

const text = z.string().optional();
const port = portSchema.optional();

const shape = {
  DATABASE_URL: commonSettings.DATABASE_URL.optional(),
  REDIS_URL: commonSettings.REDIS_URL,
  SECRETS_ENCRYPTION_KEYS: text,
  INTERNAL_API_SECRET: text,
  INTERNAL_EVENTS_SECRET: text,
  IDENTITY_SIGNING_KEYS: text,
  API_HOST: text,
  API_PORT: port,
  API_UPSTREAMS: text,
  INTERNAL_HOST: text,
  INTERNAL_PORT: port,
  WORKER_HOST: text,
  WORKER_PORT: port,
  WEBHOOK_ALLOWED_PRIVATE_CIDRS: text,
  WEBHOOK_CA_FILE: text,
};

/** The settings that the environment provides. The tour chooses the undefined ones. */
export type GivenSettings = z.output<z.ZodObject<typeof shape>>;

/** Reads the settings that the tour itself needs. Each service validates its own. */
export function readGivenSettings(env: Environment) {
  return parseEnvironment(shape, env, {
    secrets: [...commonSecrets, 'INTERNAL_API_SECRET', 'INTERNAL_EVENTS_SECRET', 'IDENTITY_SIGNING_KEYS'],
    known: settingNames,
  });
}

/** Where the services listen in this run. */
export interface Listeners {
  api: { host: string; port: number };
  internal: { host: string; port: number };
  worker: { host: string; port: number };
  /** The example service. */
  consultations: { host: string; port: number };
}

/** The areas of the example service. */
const ownAreas = ['consultations', 'batches'];

/** Deliveries of the tour may reach receivers on this machine. */
const ownCidrs = ['127.0.0.0/8', '::1/128'];

/**
 * The environment of the services. Given settings stay as they are (a secret may be given as a file), missing ones are
 * filled in. The demo's own range, certificate authority and areas are added to the given ones.
 */
export function serviceEnvironment(
  env: Environment,
  given: GivenSettings,
  made: {
    databaseUrl: string;
    encryptionKeys: string;
    internalSecret: string;
    eventsSecret: string;
    identityKeys: string;
    listeners: Listeners;
    caFile: string;
  },
): Environment {
  const { api, internal, worker, consultations } = made.listeners;
  const cidrs = [...ownCidrs, given.WEBHOOK_ALLOWED_PRIVATE_CIDRS ?? ''].filter((entry) => entry !== '');
  return {
    ...(isLoopback(api.host) && { API_PUBLIC_URL: localUrl(api), CONSOLE_PUBLIC_URL: localUrl(api) }),
    ...env,
    ...(given.DATABASE_URL === undefined && { DATABASE_URL: made.databaseUrl }),
    ...(given.SECRETS_ENCRYPTION_KEYS === undefined && { SECRETS_ENCRYPTION_KEYS: made.encryptionKeys }),
    ...(given.INTERNAL_API_SECRET === undefined && { INTERNAL_API_SECRET: made.internalSecret }),
    ...(given.INTERNAL_EVENTS_SECRET === undefined && { INTERNAL_EVENTS_SECRET: made.eventsSecret }),
    ...(given.IDENTITY_SIGNING_KEYS === undefined && { IDENTITY_SIGNING_KEYS: made.identityKeys }),
    API_UPSTREAMS: withOwnAreas(given.API_UPSTREAMS, localUrl(consultations)),
    API_HOST: api.host,
    API_PORT: String(api.port),
    INTERNAL_HOST: internal.host,
    INTERNAL_PORT: String(internal.port),
    WORKER_HOST: worker.host,
    WORKER_PORT: String(worker.port),
    WEBHOOK_ALLOWED_PRIVATE_CIDRS: cidrs.join(','),
    WEBHOOK_CA_FILE: made.caFile,
  };
}

/** The example service has its areas to itself: the tour asks it for work. */
function withOwnAreas(given: string | undefined, url: string): string {
  const others = commaList(given ?? '').filter((entry) => !ownAreas.some((area) => entry.startsWith(`${area}=`)));
  return [...ownAreas.map((area) => `${area}=${url}`), ...others].join(',');
}

const isLoopback = (host: string) => ['0.0.0.0', '::', '127.0.0.1', '::1', 'localhost'].includes(host);

/** The URL at which a listener can be reached from this machine. */
export function localUrl(listener: { host: string; port: number }): string {
  const anywhere: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
  const host = anywhere[listener.host] ?? (listener.host.includes(':') ? `[${listener.host}]` : listener.host);
  return `http://${host}:${listener.port}`;
}

/** Names a database without its password. The demo's state is kept under this name. */
export function databaseName(url: string): string {
  const { hostname, port, pathname } = new URL(url);
  return `${hostname}:${port || '5432'}${pathname}`;
}
