import { type Waybill, WaybillError } from '@waybill/core';
import { refusalOf } from './report.ts';

interface FirstClaims {
  /** For the worker. */
  port: Waybill;
  /** Resolves when the first claim was answered, or failed for another reason than the rights of the key. */
  answered: Promise<void>;
}

/**
 * Watches the claims of a worker behind a server until each of its queues was claimed once. A key without the right to do so
 * will not get it by waiting, and `onRefused` is called with the reason. These claims do not wait for jobs, so that the answer
 * comes at once.
 */
export function firstClaims(port: Waybill, onRefused: (reason: WaybillError) => void): FirstClaims {
  const answered = Promise.withResolvers<void>();
  const claimed = new Set<string>();
  const claim: Waybill['jobs']['claim'] = async (call) => {
    if (call.queues.every((queue) => claimed.has(queue))) return port.jobs.claim(call);
    try {
      const leases = await port.jobs.claim({ ...call, waitMs: 0 });
      for (const queue of call.queues) claimed.add(queue);
      answered.resolve();
      return leases;
    } catch (error) {
      const { code, message } = refusalOf(error);
      if (code === 'forbidden') {
        const hint = `A worker needs a key with the scope work that sees its queues: ${call.queues.join(', ')}.`;
        onRefused(new WaybillError(code, message, { hint, cause: error }));
      } else answered.resolve();
      throw error;
    }
  };
  return { port: { ...port, jobs: { ...port.jobs, claim } }, answered: answered.promise };
}
