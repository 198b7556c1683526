import { describeWith } from '@enterprise-api/testkit/toolchains';
import { describeFrameworks } from './describe-framework.ts';
import { pythonFrameworks } from './python-frameworks.ts';

describeWith(['pythonFrameworks'], (python) => {
  describeFrameworks(pythonFrameworks(python));
});
