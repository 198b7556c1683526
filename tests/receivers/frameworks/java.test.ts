import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeFrameworks } from './describe-framework.ts';
import { spring } from './spring.ts';

describeWith(['maven', 'downloads'], (maven) => {
  describeFrameworks([spring(maven)]);
});
