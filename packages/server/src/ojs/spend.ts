import { budgetToWire } from '@waybill/client';
import type { Fields, JsonObject, SpendCall } from '@waybill/core';
import { invalidField } from '@waybill/core';
import { answer } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import type { App } from '../http/env.ts';
import { pathId } from '../http/path-id.ts';
import { portOf } from '../http/port.ts';
import type { Surface } from '../surface.ts';
import { leaseTokenOf, workerIdOf } from './fields.ts';

/** A run says what it has used of the budgets that it shares with others. */
export function spendRoute(app: App, { maxBodyBytes, requireLease }: Surface): void {
  app.post('/waybill/v1/jobs/:id/spend', async (c) => {
    const id = pathId(c);
    const call = readSpending(id, await readBody(c, maxBodyBytes), requireLease);
    const { budgets } = await portOf(c).jobs.spend(call);
    return answer(c, { budgets: budgets.map(budgetToWire) });
  });
}

function readSpending(id: string, body: Fields, requireLease: boolean): SpendCall {
  body.refuseUnknown(['lease_token', 'worker_id', 'amounts', 'key', 'number']);
  const amounts = body.object('amounts');
  if (amounts === undefined) throw invalidField('amounts', 'is required.');
  const key = body.string('key');
  const number = body.integer('number', { min: 1, max: Number.MAX_SAFE_INTEGER });
  return {
    ...{ id, ...leaseTokenOf(body, requireLease), ...workerIdOf(body) },
    // What may stand in it is the engine's to say.
    amounts: amounts as JsonObject & SpendCall['amounts'],
    ...(key !== undefined && { key }),
    ...(number !== undefined && { number }),
  };
}
