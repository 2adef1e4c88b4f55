import type { DeadLetters, DeadMessages } from '../../waybill.ts';
import { about, type Case } from './case.ts';

export const DEAD_LETTER_CASES: { [M in keyof Omit<Required<DeadLetters>, 'messages'>]: Case } = {
  list: about(
    'read',
    ({ deadLetters }, _, filter) => deadLetters.list({ filter, limit: 9 }),
    ({ dead }) => ({ items: [{ id: dead.id }] }),
    {
      ...{ stranger: () => ({ items: [] }), narrowed: () => ({ items: [] }) },
    },
  ),
  get: about('read', ({ deadLetters }, { dead }, at) => deadLetters.get(dead.id, at)),
  replay: about('admin', ({ deadLetters }, { dead }, at) => deadLetters.replay(dead.id, at)),
  discard: about('admin', ({ deadLetters }, { dead }, at) => deadLetters.discard(dead.id, at)),
  replayMany: about(
    'admin',
    ({ deadLetters }, _, filter) => deadLetters.replayMany(filter),
    () => ({ replayed: 1 }),
    {
      ...{ stranger: () => ({ replayed: 0 }), narrowed: () => ({ replayed: 0 }) },
    },
  ),
  discardMany: about(
    'admin',
    ({ deadLetters }, _, filter) => deadLetters.discardMany(filter),
    () => ({ discarded: 1 }),
    {
      ...{ stranger: () => ({ discarded: 0 }), narrowed: () => ({ discarded: 0 }) },
    },
  ),
  stats: about(
    'read',
    ({ deadLetters }, _, filter) => deadLetters.stats(filter),
    () => ({ total: 1, exact: true }),
    {
      ...{ stranger: () => ({ total: 0 }), narrowed: () => ({ total: 0 }) },
    },
  ),
};

export const MESSAGE_CASES: { [M in keyof DeadMessages]: Case } = {
  list: about(
    'read',
    (port, _, at) => port.deadLetters.messages!.list({ ...at, limit: 9 }),
    () => [{ id: 'm1' }],
    {
      ...{ stranger: () => [], narrowed: () => [] },
    },
  ),
  replay: about(
    'admin',
    (port, _, at) => port.deadLetters.messages!.replay(at),
    () => ({ replayed: 1, removed: 0 }),
    {
      ...{ stranger: () => ({ replayed: 0 }), narrowed: () => ({ replayed: 0 }) },
    },
  ),
};
