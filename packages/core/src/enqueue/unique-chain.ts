import { changeOf, seen } from '../commit/row-change.ts';
import type { Job } from '../job/job.ts';
import { transition } from '../job/transition.ts';
import type { Candidate } from './candidate.ts';
import { isInTheWay, type UniqueRule } from './unique.ts';

/**
 * The jobs of one call that share a unique key, decided as if they came one after the other. At most one of them claims
 * the key in the store, so a store never has to know what jobs of one call mean to each other.
 */
export class UniqueChain {
  readonly #links: { candidate: Candidate; rule: UniqueRule }[] = [];

  add(candidate: Candidate, rule: UniqueRule): void {
    this.#links.push({ candidate, rule });
  }

  get isShared(): boolean {
    return this.#links.length > 1;
  }

  /** Decides about each of them anew, given the job that owns the key in the store; null: nobody does. */
  decide(owner: Job | null, now: number): void {
    let last: Candidate | null = null;
    let isReplaced = false;
    for (const { candidate, rule } of this.#links) {
      candidate.reset();
      const holder: Job | null = last?.born.job ?? owner;
      if (holder !== null && isInTheWay(holder, rule, now)) {
        if (rule.onConflict === 'reject') throw candidate.rejected(holder, last);
        if (rule.onConflict === 'ignore') {
          candidate.yieldTo(last ?? holder);
          continue;
        }
        if (rule.onConflict === 'replace_except_schedule') candidate.takeTimeOf(holder, now);
        // A job of this call that the next one replaces is never stored.
        if (last) last.yieldTo(candidate);
        else isReplaced = true;
      }
      last = candidate;
    }
    if (!last) return;
    const { key } = this.#links[0]!.rule;
    const expected = owner && { id: owner.id, version: owner.version };
    const reason = `replaced by ${last.born.job.id}`;
    // A finished owner has nothing to cancel; it only stood in the way.
    const cancelled = isReplaced ? transition(owner!, { do: 'cancel', reason }, now) : null;
    const replace = cancelled && changeOf(owner!, seen(owner!), cancelled);
    last.claim(replace ? { key, owner: expected, replace } : { key, owner: expected });
  }
}

/** One chain for each unique key; undefined where no job has one. */
export function chainsOf(candidates: readonly Candidate[]): Map<string, UniqueChain> | undefined {
  let chains: Map<string, UniqueChain> | undefined;
  for (const candidate of candidates) {
    const { rule } = candidate;
    if (rule === null) continue;
    chains ??= new Map();
    const chain = chains.get(rule.key) ?? new UniqueChain();
    chain.add(candidate, rule);
    chains.set(rule.key, chain);
  }
  return chains;
}
