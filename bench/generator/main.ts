import { serve } from '../processes/serve.ts';
import { runLoad } from './run.ts';

// The load generator, in a process of its own so that its work is not counted.
serve({ run: runLoad });
