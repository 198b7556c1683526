import { describeFrameworks } from './describe-framework.ts';
import { express } from './express.ts';

describeFrameworks([express]);
