import { describe, expect, it } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import { TEST_EPOCH as NOW } from '../testing/test-clock.ts';
import { isOpen, MAX_ITERATIONS } from './gate.ts';
import { JOB_STATES, type Job } from './job.ts';
import type { NodeRules } from './node-rules.ts';
import { type Command, transition } from './transition.ts';

const SIGNAL: Command = { do: 'signal', data: 1 };
const APPROVE: Command = { do: 'approve' };
const REVISE: Command = { do: 'revise', feedback: 'Shorter.' };
const GATE: Command[] = [{ do: 'open' }, SIGNAL, APPROVE, REVISE];

const aGate = (rules: NodeRules, state: Job['state'] = 'pending'): Job => {
  const job = aJobIn(state);
  return { ...job, workflowId: 'flow', node: 'gate', spec: { ...job.spec, rules } };
};

const after = (job: Job, ...commands: Command[]): Job =>
  commands.reduce((one, command) => transition(one, command, NOW)!.job, job);

describe('gates', () => {
  it.each(JOB_STATES)('only a pending gate takes decisions, and a job without a gate takes none: %s', (state) => {
    for (const command of GATE) {
      expect(transition(aJobIn(state), command, NOW)).toBeNull();
      if (state === 'pending') continue;
      expect(transition(aGate({ signal: {} }, state), command, NOW)).toBeNull();
      expect(transition(aGate({ review: {} }, state), command, NOW)).toBeNull();
    }
  });

  it('takes what it waits for, and nothing else', () => {
    const [signal, review] = [aGate({ signal: {} }), after(aGate({ review: {} }), { do: 'open' })];
    for (const command of [APPROVE, REVISE, { do: 'activate' } as const])
      expect(transition(signal, command, NOW)).toBeNull();
    for (const command of [SIGNAL, { do: 'open' } as const, { do: 'activate' } as const])
      expect(transition(review, command, NOW)).toBeNull();
    // Not before its turn: there is nothing to review yet.
    expect(transition(aGate({ review: {} }), APPROVE, NOW)).toBeNull();
  });

  it('is decided once', () => {
    const signalled = after(aGate({ signal: {} }), SIGNAL);
    const approved = after(aGate({ review: {} }), { do: 'open' }, APPROVE);
    for (const job of [signalled, approved]) {
      for (const command of GATE.slice(1)) expect(transition(job, command, NOW)).toBeNull();
      expect(job).toMatchObject({ state: 'pending', advancePending: true, nextAt: job.createdAt });
    }
  });

  it('gives up in time, and a decision that comes later is refused although nobody has looked', () => {
    const rules: [NodeRules, Command, string][] = [
      [{ signal: { timeoutMs: 1_000 } }, SIGNAL, 'signal_timeout'],
      [{ review: { timeoutMs: 1_000 } }, APPROVE, 'review_timeout'],
      [{ review: { timeoutMs: 1_000 } }, REVISE, 'review_timeout'],
    ];
    for (const [rule, command, code] of rules) {
      const open = after(aGate(rule), { do: 'open' });
      expect(open).toMatchObject({ nextAt: NOW + 1_000, timeoutAt: NOW + 1_000 });
      expect(transition(open, { do: 'tick' }, NOW + 999)).toBeNull();
      expect(transition(open, command, NOW + 999)).not.toBeNull();
      expect(transition(open, command, NOW + 1_000)).toBeNull();
      const ended = transition(open, { do: 'tick' }, NOW + 1_000)!.job;
      expect(ended).toMatchObject({ state: 'discarded', outcome: 'timed_out', dead: false, errors: [{ code }] });
      // One that was decided in time waits for the engine alone.
      const decided = after(open, command);
      expect(transition(decided, { do: 'tick' }, NOW + 1_000)).toBeNull();
      expect(isOpen(decided, NOW)).toBe(false);
    }
  });

  it('ends a review after so many iterations', () => {
    let job = aGate({ review: {} });
    for (let iteration = 1; iteration < MAX_ITERATIONS; iteration += 1) job = after(job, { do: 'open' }, REVISE);
    const last = after(job, { do: 'open' });
    expect(last.result).toMatchObject({ iteration: MAX_ITERATIONS });
    expect(transition(last, REVISE, NOW)).toBeNull();
    expect(transition(last, { ...APPROVE, iteration: 1 }, NOW)).toBeNull();
    expect(transition(last, { ...APPROVE, iteration: MAX_ITERATIONS }, NOW)).not.toBeNull();
  });

  it('knows what it was told when its node starts over, and waits anew', () => {
    const job = after(aGate({ review: { timeoutMs: 1_000 } }), { do: 'open' }, REVISE, { do: 'open' });
    const timedOut = transition(job, { do: 'tick' }, NOW + 1_000)!.job;
    const waits = { state: 'pending', startedAt: null, timeoutAt: null, result: { iteration: 2 } };
    expect(after(timedOut, { do: 'replay' })).toMatchObject({ ...waits, advancePending: true });
    expect(after(job, { do: 'cancel' }, { do: 'reinstate' })).toMatchObject(waits);
  });
});
