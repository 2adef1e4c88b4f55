import type { Store } from '@waybill/core';

/** Parts of a store that have calls of their own. */
const GROUPS: ReadonlySet<string> = new Set([
  ...['events', 'reports', 'queues', 'limits', 'workflows', 'crons', 'workers', 'records', 'locks', 'journal'],
]);

/**
 * A process that dies after its n-th call to the store: the call has its effect, and the process neither learns of it nor
 * makes another one. It may not close the store, which others go on with.
 */
export function dyingStore<S extends Store>(store: S, afterCalls: number): S {
  let calls = 0;
  const counted =
    (method: (...args: unknown[]) => unknown, owner: object) =>
    async (...args: unknown[]): Promise<unknown> => {
      calls += 1;
      if (calls > afterCalls) throw new Error('The process is dead.');
      const answer = await method.apply(owner, args);
      if (calls >= afterCalls) throw new Error('The process has died.');
      return answer;
    };
  const wrapped = <T extends object>(owner: T): T =>
    new Proxy(owner, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'close') return async () => {};
        if (GROUPS.has(String(name)) && typeof value === 'object' && value !== null) return wrapped(value);
        if (typeof value !== 'function' || PASSED.has(String(name))) return value;
        return counted(value as never, target);
      },
    });
  return wrapped(store);
}

/** They answer at once and change nothing. */
const PASSED: ReadonlySet<string> = new Set(['onWake', 'onGrown', 'keepFor', 'closeSoon', 'opensAt', 'within']);
