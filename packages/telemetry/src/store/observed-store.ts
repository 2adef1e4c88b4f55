import type { Store, StoreWithin } from '@waybill/core';
import { type CallParts, ObservedCalls } from './observed-calls.ts';
import { observedGroups } from './observed-groups.ts';
import { ofFound, ofGroups, ofJobs, ofMany, ofRows } from './told-of.ts';

/** The store, with every call measured. */
export function observedStore(store: Store, parts: CallParts): Store {
  const calls = new ObservedCalls(parts, 'store', store.capabilities.name);
  return {
    capabilities: store.capabilities,
    clock: store.clock,
    ...observedRows(store, calls, ''),
    list: (query) => calls.run('list', () => store.list(query), { found: ({ items }) => ({ count: items.length }) }),
    count: (filter, bound) => calls.run('count', () => store.count(filter, bound)),
    claim: (requests) =>
      calls.run('claim', () => store.claim(requests), {
        asked: () => ofMany(0),
        found: (claimed) => ofFound(claimed.flat()),
      }),
    ...(store.opensAt && { opensAt: (query) => store.opensAt!(query) }),
    ...(store.insertAndClaim && {
      insertAndClaim: (group, request) =>
        calls.run('insertAndClaim', () => store.insertAndClaim!(group, request), { asked: () => ofGroups([group]) }),
    }),
    claimById: (request) =>
      calls.run('claimById', () => store.claimById(request), {
        asked: () => ofMany(request.ids.length),
        found: (answers) => ofFound(answers.flatMap((answer) => (answer.status === 'claimed' ? [answer.job] : []))),
      }),
    extend: (requests) => calls.run('extend', () => store.extend(requests), { asked: () => ofMany(requests.length) }),
    due: (query) =>
      calls.run('due', () => store.due(query), {
        asked: () => ofMany(0),
        found: ({ jobs, crons, admitted }) =>
          jobs.length + crons.length + admitted.length === 0
            ? null
            : { ...ofJobs([...jobs, ...admitted]), count: jobs.length + crons.length },
      }),
    prune: (request) =>
      calls.run('prune', () => store.prune(request), {
        asked: () => ofMany(0),
        found: ({ jobs, events }) => (jobs + events === 0 ? null : ofMany(jobs + events)),
      }),
    ...(store.keepFor && { keepFor: (retention) => store.keepFor!(retention) }),
    ...(store.useReminders && { useReminders: (firstMs) => store.useReminders!(firstMs) }),
    ...(store.closeSoon && { closeSoon: () => store.closeSoon!() }),
    ...observedGroups(store, calls),
    ...(store.within && { within: (transaction) => observedRows(store.within!(transaction), calls, 'within.') }),
    onWake: (listener) => store.onWake(listener),
    ping: () => store.ping(),
    close: () => store.close(),
  };
}

/** What a store does by itself, and also as a part of a caller's transaction. */
function observedRows(store: StoreWithin, calls: ObservedCalls, prefix: string): StoreWithin {
  return {
    insert: (groups, options) =>
      calls.run(`${prefix}insert`, () => store.insert(groups, options), { asked: () => ofGroups(groups) }),
    get: (keys) =>
      calls.run(`${prefix}get`, () => store.get(keys), {
        asked: () => ofMany(keys.length),
        found: (jobs) => ofJobs(jobs),
      }),
    apply: (changes, options) =>
      calls.run(`${prefix}apply`, () => store.apply(changes, options), {
        asked: () => ofRows(changes),
      }),
    records: { list: (query) => calls.run(`${prefix}records.list`, () => store.records.list(query)) },
  };
}
