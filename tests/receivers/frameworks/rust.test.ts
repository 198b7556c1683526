import { requireToolchain } from '@enterprise-api/testkit';
import { axum } from './axum.ts';
import { describeFrameworks } from './describe-framework.ts';

requireToolchain('downloads');
describeFrameworks([axum(requireToolchain('rust'))]);
