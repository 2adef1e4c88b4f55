import {
  type BlobOptions,
  type Engine,
  engine,
  type Logger,
  type Store,
  stderrLogger,
  type Transport,
} from '@waybill/core';
import { openedOnce } from './opened-once.ts';
import { Sending, trackedTransport } from './sending.ts';

export interface EngineParts {
  store: Store;
  /** What carries hints. @defaultValue none: workers look into the store */
  transport?: Transport;
  /** What the other processes of the store keep large payloads in. */
  blobs?: BlobOptions;
}

/** Of handlers that work on the rows. */
export interface EngineHandlerOptions {
  /** Opened by the first invocation and kept as long as the function's container lives. */
  open(): Promise<EngineParts>;
  /** @defaultValue stderrLogger */
  logger?: Logger;
}

/** An engine without loops, in a function. */
export interface FunctionEngine {
  engine: Engine;
  /** Resolves when everything is written and sent. A function is frozen when it has answered. */
  idle(): Promise<void>;
}

export const functionEngine = ({
  open,
  logger = stderrLogger,
}: EngineHandlerOptions): (() => Promise<FunctionEngine>) =>
  openedOnce(async () => {
    const { transport, ...parts } = await open();
    const sending = new Sending();
    const tracked = transport && { transport: trackedTransport(transport, sending) };
    const made = engine({ ...parts, ...tracked, logger, maintenance: false });
    const idle = async () => {
      await made.upkeep.idle();
      await sending.idle();
    };
    return { engine: made, idle };
  });
