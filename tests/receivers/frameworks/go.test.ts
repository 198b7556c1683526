import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeFrameworks } from './describe-framework.ts';
import { gin } from './gin.ts';

describeWith(['go', 'downloads'], (go) => {
  describeFrameworks([gin(go)]);
});
