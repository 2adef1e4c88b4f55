import type { Clock } from '@waybill/core';
import type { HeldRun } from './held-run.ts';

interface LeaseEndParts {
  clock: Clock;
  lose(run: HeldRun): void;
}

/**
 * Loses the run when its lease has ended without an extension. Apart from the heartbeats, because a call that hangs
 * is noticed only after the lease.
 */
export async function loseAtLeaseEnd(run: HeldRun, { clock, lose }: LeaseEndParts): Promise<void> {
  const { ended } = run;
  while (!ended.aborted && run.state !== 'settling') {
    const left = run.renewedAt + run.leaseMs - clock.monotonic();
    if (left <= 0) {
      lose(run);
      return;
    }
    await clock.sleep(left, ended);
  }
}
