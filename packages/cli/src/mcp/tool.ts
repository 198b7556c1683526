/** A tool: one operation of the API. */
export interface Tool {
  readonly name: string;
  readonly description: string;
  /** True for tools that need `--allow-write`. */
  readonly isWriting: boolean;
  readonly method: string;
  /** With the names of parameters: `/v1/webhooks/{id}`. */
  readonly path: string;
  /** Fields of the body that the tool adds to the agent's. */
  readonly given: Readonly<Record<string, unknown>>;
  readonly input: Readonly<Record<string, unknown>>;
  readonly output: Readonly<Record<string, unknown>>;
}
