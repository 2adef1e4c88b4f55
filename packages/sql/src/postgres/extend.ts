import { type ExtendAnswer, type ExtendRequest, heartbeatEvent, type JobEvent } from '@waybill/core';
import { encodeEvent } from '../event-codec.ts';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
import { get } from './get.ts';
import { keyOf } from './keys.ts';
import { isId } from './rows.ts';
import { wavesOf } from './waves.ts';

export async function extend(base: Base, requests: readonly ExtendRequest[]): Promise<ExtendAnswer[]> {
  const answers: ExtendAnswer[] = requests.map(() => ({ status: 'lost' }));
  for (const wave of wavesOf(requests, ({ tenant, id }) => [keyOf(tenant, id)])) {
    const possible = wave.filter((index) => isId(requests[index]!.id));
    for (const indexes of Map.groupBy(possible, (index) => requests[index]!.tenant).values()) {
      // The order of ids is the order of locks.
      indexes.sort((a, b) => (requests[a]!.id < requests[b]!.id ? -1 : 1));
      const rows = await extendEach(
        base,
        indexes.map((index) => requests[index]!),
      );
      for (const [n, leaseUntil] of rows) answers[indexes[n - 1]!] = { status: 'extended', leaseUntil };
    }
  }
  return answers;
}

type Extended = [n: number, leaseUntil: number];

/** Requests of one tenant for different jobs, in the order of their ids. */
async function extendEach(base: Base, requests: readonly ExtendRequest[]): Promise<Extended[]> {
  const parameters = parametersOf(requests);
  if (!requests.some(({ isTold }) => isTold)) return base.link.query<Extended>(base.sql.extend, parameters);
  const keys = requests.map(({ tenant, id }) => ({ tenant, id }));
  return base.link.transaction(async (tx) => {
    // Locked, so that what is told is what was changed.
    await tx.query(base.sql['jobs-lock'], [keys[0]!.tenant, plainArray(keys.map(({ id }) => id))]);
    const before = await get(base, keys, tx);
    const rows = await tx.query<Extended>(base.sql.extend, parameters);
    const events = rows.flatMap(([n, leaseUntil]): JobEvent[] => {
      const { isTold, now } = requests[n - 1]!;
      const event = isTold ? heartbeatEvent(before[n - 1]!, leaseUntil, now) : null;
      return event ? [event] : [];
    });
    if (events.length === 0) return rows;
    const newest = Math.max(...events.map(({ at }) => at));
    await tx.query(base.sql['segment-append'], [newest, events.length, `[${events.map(encodeEvent).join(',')}]`]);
    return rows;
  });
}

function parametersOf(requests: readonly ExtendRequest[]): (string | null)[] {
  const runs = requests.map(({ by }) => (by !== 'anyone' && 'run' in by ? by : null));
  const workers = requests.map(({ by }) => (by !== 'anyone' && 'workerId' in by ? by.workerId : null));
  return [
    requests[0]!.tenant,
    plainArray(requests.map(({ id }) => id)),
    plainArray(runs.map((by) => by?.run ?? null)),
    textArray(runs.map((by) => by?.claimId ?? null)),
    textArray(workers),
    plainArray(requests.map(({ leaseMs }) => leaseMs)),
    plainArray(requests.map(({ now }) => now)),
  ];
}
