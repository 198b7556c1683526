import { nodeReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describeReceiver('Node.js', nodeReceiver);
