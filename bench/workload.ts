import type { Sizes } from './forms.ts';
import type { Lab } from './stage/lab.ts';
import type { Setting } from './stage/stage.ts';

/** The input of a run. */
export interface RunContext {
  lab: Lab;
  sizes: Sizes;
  setting: Setting;
  /** 1, 2, …: parts that are compared within a run change their order from round to round. */
  round: number;
}

/** The figures of a run, and the problems that make it void. */
export interface Finding {
  figures: Record<string, number>;
  problems: string[];
}

/** A workload of the product, or a baseline. */
export interface Workload {
  title: string;
  run: (context: RunContext) => Promise<Finding>;
}
