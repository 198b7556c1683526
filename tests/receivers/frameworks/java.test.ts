import { requireToolchain } from '@enterprise-api/testkit';
import { describeFrameworks } from './describe-framework.ts';
import { spring } from './spring.ts';

requireToolchain('downloads');
describeFrameworks([spring(requireToolchain('maven'))]);
