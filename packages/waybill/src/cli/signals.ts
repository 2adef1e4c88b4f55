import type { Logger } from '@waybill/core';

const STOPPED_BY_USER = 130;

/** Resolves when the process is asked to end. A second request does not wait any longer. */
export function untilAskedToStop(logger: Logger): Promise<void> {
  return new Promise((resolve) => {
    let asked = false;
    const stop = (signal: NodeJS.Signals) => {
      if (asked) process.exit(STOPPED_BY_USER);
      asked = true;
      logger.info({ signal }, 'Stopping: no new requests, what is under way will finish.');
      resolve();
    };
    process.on('SIGTERM', stop);
    process.on('SIGINT', stop);
  });
}
