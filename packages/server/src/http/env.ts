import type { Waybill } from '@waybill/core';
import type { Context, Hono } from 'hono';

/** What whoever runs the app may tell it with each request. Hono has none at all where nobody gave any. */
export interface Bindings {
  /** Aborted when the server is asked to end: open streams and long polls then end by themselves. */
  closing?: AbortSignal;
  /** Names that a request may give as its `Host`, besides those of loopback; absent: any. */
  allowedHosts?: ReadonlySet<string>;
  /** Resolves, when the answer is over, with whether all of it went out. Absent where that cannot be known. */
  delivered?(): Promise<boolean>;
  /** The server has not closed before this is done. */
  waitUntil?(work: Promise<unknown>): void;
}

export interface Env {
  Bindings: Bindings;
  Variables: {
    requestId: string;
    /** What the sender of the request may use; absent on routes that everybody may use. */
    port?: Waybill;
    /** Whose things a call is about that names no tenant. */
    tenant?: string;
  };
}

export type App = Hono<Env>;
export type Ctx = Context<Env>;
