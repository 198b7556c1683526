import { describeWith } from '@enterprise-api/testkit/toolchains';
import { axum } from './axum.ts';
import { describeFrameworks } from './describe-framework.ts';

describeWith(['rust', 'downloads'], (cargo) => {
  describeFrameworks([axum(cargo)]);
});
