import { WaybillError } from '../errors.ts';
import type { Store } from '../store/store.ts';

export interface SeverableStore {
  store: Store;
  /** From now on every call fails, as for a process that is dead to the others. */
  sever(): void;
  mend(): void;
}

/** One process's way to a store that others use too; closing it leaves the store open. `onAnswer` sees every answer. */
export function severable(inner: Store, onAnswer?: (answer: unknown) => void): SeverableStore {
  let isSevered = false;
  const watched = (answer: unknown): unknown => {
    if (!onAnswer || !(answer instanceof Promise)) return answer;
    return answer.then((value: unknown) => {
      onAnswer(value);
      return value;
    });
  };
  const over = <T extends object>(target: T): T =>
    new Proxy(target, {
      get: (_, name) => {
        const value: unknown = Reflect.get(target, name, target);
        if (name === 'close' && target === (inner as unknown)) return async () => {};
        if (typeof value !== 'function') return isGroup(name) ? over(value as object) : value;
        return (...args: unknown[]) => {
          if (!isSevered) return watched(value.apply(target, args));
          const gone = new WaybillError('unavailable', 'The store does not answer.');
          return name === 'onWake' || name === 'onGrown' ? () => {} : Promise.reject(gone);
        };
      },
    });
  return {
    store: over(inner),
    sever: () => {
      isSevered = true;
    },
    mend: () => {
      isSevered = false;
    },
  };
}

const GROUPS: ReadonlySet<PropertyKey> = new Set([
  'events',
  'records',
  'locks',
  'queues',
  'reports',
  'journal',
  'workers',
  'crons',
]);
const isGroup = (name: PropertyKey): boolean => GROUPS.has(name);
