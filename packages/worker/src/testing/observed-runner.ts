import type { Runner } from '../execute/runner.ts';

export interface ObservedRunner extends Runner {
  /** Runs that were begun and have not ended. */
  readonly underWay: number;
  /** The most that were under way at once. */
  readonly most: number;
  readonly stops: number;
  /** Resolves when as many runs have ended as were begun. */
  allEnded(): Promise<void>;
}

/** The same runner, with counts of what the worker asks of it. */
export function observed(runner: Runner): ObservedRunner {
  let [underWay, most, stops] = [0, 0, 0];
  let waiting: (() => void)[] = [];
  const end = () => {
    underWay -= 1;
    if (underWay > 0) return;
    for (const tell of waiting) tell();
    waiting = [];
  };
  return {
    name: runner.name,
    concurrency: runner.concurrency,
    abortGraceMs: runner.abortGraceMs ?? 0,
    get underWay() {
      return underWay;
    },
    get most() {
      return most;
    },
    get stops() {
      return stops;
    },
    run: async (validated, control, context) => {
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        return await runner.run(validated, control, context);
      } finally {
        end();
      }
    },
    stop: () => {
      stops += 1;
      return runner.stop();
    },
    allEnded: () => (underWay === 0 ? Promise.resolve() : new Promise((tell) => waiting.push(tell))),
  };
}
