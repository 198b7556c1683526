/** Runs a command in a folder. */
type Run = (command: string, args: readonly string[]) => Promise<void>;

/** How a framework answers a path with a slash too many or too few. */
interface SlashAnswers {
  /** `/webhooks/`, where the route is `/webhooks`. */
  tooMany: number;
  /** `/slash`, where the route is `/slash/`. */
  tooFew: number;
}

/** A framework of docs/customers/receive.md: the program around its snippet. */
export interface Framework {
  name: string;
  /** The name of the program's file. */
  file: string;
  /** The program. It listens on PORT of 127.0.0.1, and answers 204 when both signatures are right, else 401. */
  complete(snippet: string): string;
  slash: SlashAnswers;
  /** Builds it in its folder, where that is necessary; the command that runs it. */
  prepare(folder: string, run: Run): Promise<{ command: string; args: string[] }>;
}
