import { requireToolchain } from '@enterprise-api/testkit';
import { pythonReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describeReceiver('Python', pythonReceiver(requireToolchain('fastapi')));
