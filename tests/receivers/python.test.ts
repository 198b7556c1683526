import { describeWith } from '@enterprise-api/testkit/toolchains';
import { pythonReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describeWith(['fastapi'], (python) => {
  describeReceiver('Python', pythonReceiver(python));
});
