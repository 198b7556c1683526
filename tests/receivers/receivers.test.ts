import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describe } from '@jest/globals';
import { goReceiver, nodeReceiver, pythonReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describe('Node.js', () => {
  describeReceiver('Node.js', nodeReceiver);
});

describeWith(['fastapi'], (python) => describeReceiver('Python', pythonReceiver(python)));

describeWith(['go'], (go) => describeReceiver('Go', goReceiver(go)));
