import { requireToolchain } from '@enterprise-api/testkit';
import { describeFrameworks } from './describe-framework.ts';
import { pythonFrameworks } from './python-frameworks.ts';

describeFrameworks(pythonFrameworks(requireToolchain('pythonFrameworks')));
