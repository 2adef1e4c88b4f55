import type { Clock, Logger } from '@waybill/core';

/** What the routes need to know, with every default filled in. */
export interface Surface {
  /** Of the implementation, for the manifest and health answers. */
  version: string;
  logger: Logger;
  /** The one that the engine goes by. */
  clock: Clock;
  maxBodyBytes: number;
  /** Whether to refuse ack and nack without a lease token. */
  requireLease: boolean;
  /** Whether a job's `options.metadata.test_directive` steers its worker, as the conformance suites want it. */
  testDirectives: boolean;
  /** Pause between two signs of life on an idle event stream. */
  streamHeartbeatMs: number;
}
