import type { Principal, TellDone, Waybill, WaybillError } from '@waybill/core';
import type { Context, Hono } from 'hono';
import type { Meant } from '../audit/auditor.ts';
import type { Identified } from '../auth/identified.ts';
import type { ObservedRpc, RpcRequest } from './rpc-request.ts';
import type { Standing } from './standing.ts';

/** What whoever runs the app may tell it with each request. Hono has none at all where nobody gave any. */
export interface Bindings {
  /** Aborted when the server is asked to end: open streams and long polls then end by themselves. */
  closing?: AbortSignal;
  /** Names that a request may give as its `Host`, besides those of loopback; absent: any. */
  allowedHosts?: ReadonlySet<string>;
  /** Where the client is, as far as that can be believed. */
  readonly clientAddress?: string | undefined;
  /** The same object for all requests of a connection. Absent where that cannot be known. */
  readonly connection?: object | undefined;
  /** How many connections the server takes. Absent: any number. */
  readonly mostConnections?: number;
  /** Whether the client speaks HTTPS. Absent: as the address of the request says. */
  readonly isHttps?: boolean;
  /** The host that the client named, where a trusted proxy has replaced the `Host`. */
  readonly forwardedHost?: string | undefined;
  /** Resolves, when the answer is over, with whether all of it went out. Absent where that cannot be known. */
  delivered?(): Promise<boolean>;
  /** Ends the connection at once, without what still waits for the client. Absent where there is none. */
  cut?(): void;
  /** The answer may be silent for longer than a connection may else be. */
  allowSilence?(): void;
  /** The server has not closed before this is done. */
  waitUntil?(work: Promise<unknown>): void;
  /** Present where the request came to the port for gRPC. */
  readonly rpc?: RpcRequest;
}

export interface Env {
  Bindings: Bindings;
  Variables: {
    requestId: string;
    /** Who sends the request; absent on routes that everybody may use. */
    principal?: Principal;
    /** Who sends the request; absent where nobody has to say. */
    caller?: Identified;
    /** Whether the sender may still call, for answers that take long; absent where nobody has to say who they are. */
    standing?: Standing;
    /** Answers a call of the RPC interface, or refuses it in the words of its protocol; absent on all other paths. */
    rpc?: (refusal?: WaybillError) => Promise<Response>;
    /** Set once a call of the RPC interface was answered; a stream may still go on. */
    rpcAnswer?: ObservedRpc;
    /** Lets a call that needs no key go on for longer than such calls may; absent on all others. */
    openCallGoesOn?: () => void;
    /** A page of another origin sends it, which may. */
    isAllowedOrigin?: boolean;
    /** Seconds, for a refusal that knows better than the usual ones. */
    retryAfter?: string;
    /** Writes down what the sender does beside the port; absent where the sender has no name. */
    audit?: TellDone;
    /** What the request is for, as the audit calls it, where a route reads before it changes something. */
    meant?: Meant;
    /** What the sender of the request may use; absent on routes that everybody may use. */
    port?: Waybill;
    /** Whose things a call is about that names no tenant. */
    tenant?: string;
  };
}

export type App = Hono<Env>;
export type Ctx = Context<Env>;
