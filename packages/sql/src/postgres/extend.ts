import type { ExtendAnswer, ExtendRequest } from '@waybill/core';
import { plainArray, textArray } from './arrays.ts';
import type { Base } from './base.ts';
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
      const rows = await base.link.query<[number, number]>(
        base.sql.extend,
        parametersOf(indexes.map((i) => requests[i]!)),
      );
      for (const [n, leaseUntil] of rows) answers[indexes[n - 1]!] = { status: 'extended', leaseUntil };
    }
  }
  return answers;
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
