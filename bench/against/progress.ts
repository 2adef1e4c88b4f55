/** The runs of one workload: the seconds of those that ended, and how many are still to come. */
export interface Pace {
  taken: number[];
  left: number;
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Nothing before the first run has ended. A workload that has not run yet is taken to be as long as the others. */
export function secondsLeft(paces: readonly Pace[]): number | undefined {
  const all = paces.flatMap(({ taken }) => taken);
  if (all.length === 0) return undefined;
  return paces.reduce((sum, { taken, left }) => sum + left * mean(taken.length > 0 ? taken : all), 0);
}

export function toldLeft(seconds: number | undefined): string {
  if (seconds === undefined) return '';
  return seconds < 90 ? ` (about ${Math.ceil(seconds)} s left)` : ` (about ${Math.round(seconds / 60)} min left)`;
}

/** Where the output can be rewritten each run replaces the line of the last one; elsewhere each round is a line. */
export class Progress {
  readonly #paces: Map<string, Pace>;
  readonly #rounds: number;
  readonly #out: NodeJS.WriteStream;

  constructor(names: readonly string[], rounds: number, out: NodeJS.WriteStream = process.stderr) {
    this.#paces = new Map(names.map((name) => [name, { taken: [], left: 2 * rounds }]));
    this.#rounds = rounds;
    this.#out = out;
  }

  async run<T>(name: string, round: number, build: string, run: () => Promise<T>): Promise<T> {
    const pace = this.#paces.get(name)!;
    const line = `${name}: round ${round + 1} of ${this.#rounds}`;
    const left = toldLeft(secondsLeft([...this.#paces.values()]));
    if (this.#out.isTTY) this.#out.write(`\r\x1b[K${line}, ${build}${left}`);
    else if (pace.left % 2 === 0) this.#out.write(`${line}${left}\n`);
    const begun = performance.now();
    const result = await run();
    pace.taken.push((performance.now() - begun) / 1_000);
    pace.left -= 1;
    return result;
  }

  /** Before anything else is printed. A workload that ended early has no runs left. */
  end(name: string): void {
    this.#paces.get(name)!.left = 0;
    if (this.#out.isTTY) this.#out.write('\r\x1b[K');
  }
}
