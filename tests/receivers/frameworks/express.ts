import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { projectFolder } from '@enterprise-api/testkit';
import type { Framework } from './framework.ts';

export const express: Framework = {
  name: 'Express',
  file: 'program.mjs',
  slash: { tooMany: 204, tooFew: 204 },
  complete: (snippet) => `
import { verifyWebhook } from '@enterprise-api/sdk/webhooks';
import { createHmac } from 'node:crypto';
import express from 'express';
const secret = process.env.WEBHOOK_SECRET;
const app = express();
const ofBody = (body) => createHmac('sha256', secret).update(body).digest('hex');
${snippet}
  const isRight = event.id !== undefined && ofBody(request.body) === request.headers['x-service-signature'];
  response.sendStatus(isRight ? 204 : 401);
});
app.post('/slash/', (request, response) => response.sendStatus(204));
app.use((error, request, response, next) => response.sendStatus(error.name === 'WebhookVerificationError' ? 401 : 500));
app.listen(Number(process.env.PORT), '127.0.0.1');
`,
  prepare: async (folder) => {
    await symlink(join(projectFolder, 'node_modules'), join(folder, 'node_modules'));
    return { command: process.execPath, args: ['program.mjs'] };
  },
};
