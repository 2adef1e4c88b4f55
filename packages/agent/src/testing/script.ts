import type { RecordedRequest } from './recorded-request.ts';
import { Turn } from './turn.ts';

/** Chooses the turn for a request. Nothing answers a request that it was not written for. */
export type Script = readonly Turn[] | ((request: RecordedRequest) => Turn | undefined);

/** Answers requests by a script: each takes the first turn that is left and fits. */
export class ScriptReader {
  readonly #script: Script;
  readonly #used = new Map<number, number>();

  constructor(script: Script) {
    if (typeof script !== 'function') script.forEach(checkTurn);
    this.#script = script;
  }

  /** The turn for this request; a text that says why there is none. */
  turnFor(request: RecordedRequest): Turn | string {
    const script = this.#script;
    if (typeof script === 'function') {
      const turn = script(request);
      return turn instanceof Turn ? turn : `The function of fakeModel() answered no turn for ${describe(request)}.`;
    }
    const index = script.findIndex((turn, at) => this.#uses(at) < turn.fields.uses && turn.fields.fits(request));
    if (index === -1) return this.#refusal(script, request);
    this.#used.set(index, this.#uses(index) + 1);
    return script[index]!;
  }

  /** How many turns of a list have not been used. Those that answer any number of requests do not count. */
  get left(): number {
    const script = this.#script;
    if (typeof script === 'function') return 0;
    return script.filter(({ fields }, at) => Number.isFinite(fields.uses) && this.#uses(at) < fields.uses).length;
  }

  #uses(index: number): number {
    return this.#used.get(index) ?? 0;
  }

  #refusal(script: readonly Turn[], request: RecordedRequest): string {
    const { left } = this;
    const why = left === 0 ? `all ${script.length} turns were used` : `none of the ${left} turns that are left fits`;
    return `fakeModel() has no turn for ${describe(request)}: ${why}. Add a turn for it, or end an earlier turn with answers().`;
  }
}

function checkTurn(turn: unknown, index: number): void {
  if (turn instanceof Turn) return;
  throw new TypeError(
    `turns[${index}] of fakeModel() is no turn. Make it with says(), calls(), answers(), fails() or hangs().`,
  );
}

const LONGEST = 80;

function describe(request: RecordedRequest): string {
  const result = request.toolResult();
  const facts = [
    `prompt '${request.prompt.slice(0, LONGEST)}'`,
    result === undefined ? 'no tool result' : `last tool result of ${result.name}: '${result.text.slice(0, LONGEST)}'`,
  ];
  return `request ${request.number} (${facts.join('; ')})`;
}
