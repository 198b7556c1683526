import { requireToolchain } from '@enterprise-api/testkit';
import { describeFrameworks } from './describe-framework.ts';
import { gin } from './gin.ts';

requireToolchain('downloads');
describeFrameworks([gin(requireToolchain('go'))]);
