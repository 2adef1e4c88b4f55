import type {
  Budgets,
  Crons,
  HealthChecks,
  Keys,
  Limits,
  Questions,
  Queues,
  Tenants,
  Waybill,
  Workers,
  Workflows,
} from '@waybill/core';
import { RemoteError } from '../http/remote-error.ts';
import type { RemoteWebhooks } from '../http/webhooks.ts';

type DeadLetters = Waybill['deadLetters'];

/** The parts of the port that the RPC interface does not have. */
export interface Unsupported {
  deadLetters: DeadLetters;
  queues: Queues;
  limits: Limits;
  tenants: Tenants;
  budgets: Budgets;
  crons: Crons;
  workflows: Workflows;
  workers: Workers;
  questions: Questions;
  checks: HealthChecks;
  keys: Keys;
  webhooks: RemoteWebhooks;
}

/** Complete by the compiler: a method that is new on the port must be named here. */
type Methods<G> = Record<keyof { [M in keyof G as undefined extends G[M] ? never : M]: true }, true>;

const GROUPS: { [G in keyof Unsupported]: Methods<Unsupported[G]> } = {
  deadLetters: {
    ...{ list: true, get: true, replay: true, replayMany: true, discard: true, discardMany: true, stats: true },
  },
  queues: { list: true, stats: true, pause: true, resume: true, setLimit: true, setKeep: true },
  limits: { get: true, set: true },
  tenants: { list: true, get: true, stats: true, setLimits: true },
  budgets: { set: true, list: true, get: true, remove: true },
  crons: { put: true, get: true, list: true, setEnabled: true, remove: true },
  workflows: {
    ...{ create: true, get: true, list: true, nodes: true, addNodes: true, cancel: true, resume: true },
    ...{ signal: true, approve: true, requestRevision: true },
  },
  workers: { list: true, direct: true },
  questions: { list: true, get: true, answer: true },
  checks: { run: true, job: true },
  keys: { create: true, list: true, get: true, rotate: true, revoke: true, identify: true },
  webhooks: {
    ...{ create: true, put: true, list: true, get: true, remove: true, pause: true, resume: true },
    ...{ rotateSecret: true, test: true, redeliver: true },
  },
};

/** Every call refuses, and names what to use instead. */
export function unsupported(): Unsupported {
  const groups = Object.entries(GROUPS).map(([group, methods]) => {
    const names = Object.keys(methods).map((method) => [method, async () => refuse(`${group}.${method}`)]);
    return [group, Object.fromEntries(names)];
  });
  return Object.fromEntries(groups);
}

export function refuse(call: string): never {
  throw new RemoteError({
    code: 'unsupported',
    message: `The gRPC interface has no call for ${call}().`,
    hint: 'Use the HTTP address of the server, such as http://localhost:8080.',
    details: { call },
  });
}
