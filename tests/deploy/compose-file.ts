import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

const port = z.object({ target: z.int(), published: z.string(), host_ip: z.string() });
const conditions = ['service_healthy', 'service_completed_successfully'] as const;

const serviceSchema = z.object({
  image: z.string().optional(),
  build: z.object({ context: z.literal('.'), target: z.string() }).optional(),
  command: z.array(z.string()).optional(),
  profiles: z.array(z.string()).default([]),
  container_name: z.string().optional(),
  restart: z.enum(['no', 'unless-stopped']),
  stop_grace_period: z.string(),
  read_only: z.boolean().optional(),
  cap_drop: z.array(z.string()).optional(),
  security_opt: z.array(z.string()).optional(),
  environment: z.record(z.string(), z.string().nullable()).default({}),
  ports: z.array(port).default([]),
  networks: z.array(z.string()),
  volumes: z.array(z.string()).default([]),
  healthcheck: z.object({ test: z.array(z.string()) }).optional(),
  depends_on: z
    .record(z.string(), z.object({ condition: z.enum(conditions), required: z.boolean().default(true) }))
    .default({}),
});

const network = z.object({
  internal: z.boolean().optional(),
  ipam: z.object({ config: z.array(z.object({ subnet: z.string() })) }).optional(),
});

const fileSchema = z.object({
  services: z.record(z.string(), serviceSchema),
  networks: z.record(z.string(), network),
  volumes: z.record(z.string(), z.object({})),
});

export type ComposeService = z.output<typeof serviceSchema>;

export type ComposeFile = z.output<typeof fileSchema>;

/** Reads docker-compose.yml; understands only the part of the format that this file uses. */
export function readComposeFile(file: string): ComposeFile {
  return fileSchema.parse(parse(readFileSync(file, 'utf8'), { merge: true }));
}

/** The services that Compose starts with these profiles: those of one of them, and those of none. */
export function servicesWith({ services }: ComposeFile, profiles: readonly string[]): Record<string, ComposeService> {
  return Object.fromEntries(
    Object.entries(services).filter(
      ([, service]) => service.profiles.length === 0 || service.profiles.some((profile) => profiles.includes(profile)),
    ),
  );
}

/**
 * Fills in `${NAME}`, `${NAME:-default}` and `${NAME:?message}` as Compose does.
 *
 * @throws the message of a `:?` whose variable is not set
 */
export function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+)(?::([-?])([^}]*))?\}/g, (_, name: string, operator = '', argument = '') => {
    const value = variables[name] ?? '';
    if (value === '' && operator === '?') throw new Error(`${name} ${argument}`);
    return value === '' ? argument : value;
  });
}

/** The environment of a service's container. A name without a value is passed on from the variables. */
export function environmentOf(
  service: ComposeService,
  variables: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  return Object.fromEntries(
    Object.entries(service.environment).map(([name, text]) => [
      name,
      text === null ? variables[name] : interpolate(text, variables),
    ]),
  );
}
