import type { Sizes } from './forms.ts';
import type { Lab } from './stage/lab.ts';
import type { Setting } from './stage/stage.ts';

/** What a run is made with. */
export interface RunContext {
  lab: Lab;
  sizes: Sizes;
  setting: Setting;
  /** 1, 2, …: what is compared within a run changes its order from round to round. */
  round: number;
}

/** What a run measured, and why it says nothing (empty: it is valid). */
export interface Finding {
  figures: Record<string, number>;
  problems: string[];
}

/** Something that can be measured: a workload of ours, or a baseline. */
export interface Workload {
  title: string;
  run: (context: RunContext) => Promise<Finding>;
}
