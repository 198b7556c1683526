import { describeWith } from '@enterprise-api/testkit/toolchains';
import { goReceiver } from './kinds.ts';
import { describeReceiver } from './scenario.ts';

describeWith(['go'], (go) => {
  describeReceiver('Go', goReceiver(go));
});
