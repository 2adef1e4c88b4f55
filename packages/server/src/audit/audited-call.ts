import { type DoneCall, writtenDown } from '@waybill/core';
import type { Ctx } from '../http/env.ts';

/**
 * Writes down what an administrator does beside the port, such as a test of a webhook; a refusal too. `outcomeOf`: where
 * the answer says whether it came to anything.
 */
export function auditedCall<T>(
  c: Ctx,
  { action, target, outcomeOf }: { action: string; target: string; outcomeOf?: (answer: T) => DoneCall['outcome'] },
  call: () => Promise<T>,
): Promise<T> {
  const tell = c.get('audit');
  return tell === undefined ? call() : writtenDown(call, (outcome) => tell({ action, target, outcome }), outcomeOf);
}
