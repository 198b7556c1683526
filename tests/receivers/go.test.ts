import { requireToolchain } from '@enterprise-api/testkit';
import { goReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describeReceiver('Go', goReceiver(requireToolchain('go')));
