import type { Clock, Logger } from '@waybill/core';
import type { StreamObserver } from './stream/observer.ts';
import type { WebhookService } from './webhooks/service.ts';

/** What the routes need to know, with every default filled in. */
export interface Surface {
  /** Of the implementation, for the manifest and health answers. */
  version: string;
  logger: Logger;
  /** The one that the engine goes by. */
  clock: Clock;
  maxBodyBytes: number;
  /** For how long a client that works by a stream has a job where it names no time. */
  visibilityMs: number;
  /** Whether to refuse ack and nack without a lease token. */
  requireLease: boolean;
  /** Whether a job's `options.metadata.test_directive` steers its worker, as the conformance suites want it. */
  testDirectives: boolean;
  /** Pause between two signs of life on an idle event stream. */
  streamHeartbeatMs: number;
  /** How long a follower may take nothing of what was sent to it before it is cut off. */
  slowReaderMs: number;
  /** Told of streams; nothing that it throws comes back. */
  streamObserver?: StreamObserver;
  /** Absent: this server delivers to no webhook. */
  webhooks?: WebhookService;
}
