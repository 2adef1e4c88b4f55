import type { JobRequest } from '@waybill/core';
import type { WorkflowRequest } from 'waybill';
import { oneOf, type Random } from '../random.ts';
import { LATE_QUEUE, QUEUE } from './timing.ts';

/** What a handler shall do, as the only argument of its job. */
export interface Order {
  /** The label of the call that asked for it. */
  call: string;
  /** How long a run takes. */
  ms: number;
  /** So many attempts fail before one does not. */
  fails: number;
  ending: 'complete' | 'discard' | 'snooze';
  /** Whether it says how far it is. */
  reports: boolean;
  /** Whether it ends early when it is told that its lease is lost. */
  obeys: boolean;
  /** Only of unique jobs. */
  key?: string;
}

/** A job may lose its worker, or its server, time and again; it is never given up for that. */
const RETRY = { max_attempts: 1_000, initial_interval: 'PT0.05S', max_interval: 'PT0.4S' };

export const UNIQUE_KEYS = 6;

/** What jobs of these keys are held to. */
export const LIMITS = {
  'chaos-one': { concurrency: 1 },
  'chaos-three': { concurrency: 3 },
  'chaos-rate': { rate: { limit: 6, period: 'PT1S' } },
} as const;

const DURATIONS_MS = [0, 5, 10, 20, 40, 40, 80, 200, 600];

export const orderFor = (random: Random, call: string, more: Partial<Order> = {}): Order => ({
  call,
  ms: random(4) === 0 ? oneOf(random, DURATIONS_MS) : random(30),
  fails: random(8) === 0 ? 1 + random(2) : 0,
  ending: random(40) === 0 ? 'discard' : random(40) === 0 ? 'snooze' : 'complete',
  reports: random(10) === 0,
  obeys: random(2) === 0,
  ...more,
});

export function jobFor(type: string, order: Order, options: object = {}): JobRequest {
  const queue = type === 'chaos.late' ? LATE_QUEUE : QUEUE;
  return { type, args: [{ ...order }], options: { queue, retry: RETRY, ...options } };
}

export function uniqueJob(random: Random, call: string): JobRequest {
  const key = `key-${random(UNIQUE_KEYS)}`;
  const on_conflict = oneOf(random, ['reject', 'ignore', 'replace']);
  const unique = { keys: ['args'], args_keys: ['key'], on_conflict };
  // Alive for a while, so that others come in its way.
  return jobFor('chaos.unique', orderFor(random, call, { key, ms: 50 + random(300) }), { unique });
}

export function limitedJob(random: Random, call: string): JobRequest {
  const key = oneOf(random, Object.keys(LIMITS) as (keyof typeof LIMITS)[]);
  return jobFor('chaos.limited', orderFor(random, call, { ms: 20 + random(80) }), {
    rate_limit: { key, ...LIMITS[key] },
  });
}

/** A chain, a group, a batch with a callback, or a graph that fans out and in. */
export function workflowFor(random: Random, call: string): WorkflowRequest {
  const node = () => jobFor('chaos.node', orderFor(random, call, { ms: random(40), ending: ending(random) }));
  const graph = (id: string, ...depends_on: string[]) => ({ id, depends_on, ...node() });
  return oneOf<() => WorkflowRequest>(random, [
    () => ({ type: 'chain', name: call, steps: [node(), node(), node()] }),
    () => ({ type: 'group', name: call, jobs: [node(), node(), node()] }),
    () => ({ type: 'batch', name: call, jobs: [node(), node()], callbacks: { on_complete: node() } }),
    () => ({
      name: call,
      nodes: [graph('a'), graph('b'), graph('c', 'a', 'b'), graph('d', 'a'), graph('e', 'c', 'd')],
    }),
  ])();
}

/** Now and then a node is given up, and what waits for it must not start. */
const ending = (random: Random): Order['ending'] => (random(25) === 0 ? 'discard' : 'complete');
