import type { Command } from 'commander';
import type { Context } from '../context.ts';
import type { GlobalOptions } from '../settings/settings.ts';
import { addAuditCommand } from './audit.ts';
import { addCompletionCommand } from './completion.ts';
import { addConsoleCommand } from './console.ts';
import { addDeliveryCommands } from './deliveries.ts';
import { addErasuresCommand } from './erasures.ts';
import { addEventCommands } from './events.ts';
import { addKeyCommands } from './keys.ts';
import { addListenCommand } from './listen.ts';
import { addLoginCommands } from './login.ts';
import { addMcpCommand } from './mcp.ts';
import { addMeCommand } from './me.ts';
import { addOpenCommand } from './open.ts';
import { addOpsCommands } from './ops.ts';
import { addOrganizationCommands } from './organizations.ts';
import { addReplayCommands } from './replays.ts';
import { addRequestCommand } from './request.ts';
import { addRevokeCommand } from './revoke.ts';
import { addRunbookCommand } from './runbook.ts';
import { addTriggerCommand } from './trigger.ts';
import { addUsageCommand } from './usage.ts';
import { addWebhookCommands } from './webhooks.ts';

/** Adds commands to the program. */
export type CommandModule = (program: Command, open: (options: GlobalOptions) => Context) => void;

/** The order of the help. */
export const commandModules: readonly CommandModule[] = [
  addLoginCommands,
  addMeCommand,
  addRevokeCommand,
  addListenCommand,
  addEventCommands,
  addWebhookCommands,
  addTriggerCommand,
  addDeliveryCommands,
  addReplayCommands,
  addUsageCommand,
  addErasuresCommand,
  addRequestCommand,
  addOpenCommand,
  addMcpCommand,
  addConsoleCommand,
  addOrganizationCommands,
  addKeyCommands,
  addAuditCommand,
  addOpsCommands,
  addRunbookCommand,
  addCompletionCommand,
];
