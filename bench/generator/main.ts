import { answerCalls } from '@enterprise-api/testkit/peer-calls';
import { runLoad } from './run.ts';

// The load generator. It is a process of its own, so that its work is not counted.
answerCalls({ run: runLoad });
