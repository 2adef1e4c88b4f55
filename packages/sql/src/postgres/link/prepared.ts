import { createHash } from 'node:crypto';
import { faultOf } from './failures.ts';
import type { PoolClient } from './pg-types.ts';

/**
 * Statements that each connection to the server has read and planned once, under a name. Only where the connection is the
 * server's own: a pooler gives every transaction the next best one, which need not know the name.
 */
export class Prepared {
  readonly #names = new Map<string, string>();
  #isAllowed = false;

  /** `backendPid` is what the server says of itself; a pooler tells its clients of another process than that. */
  allowIfDirect(client: PoolClient, backendPid: number): void {
    this.#isAllowed = (client as unknown as { processID?: number | null }).processID === backendPid;
  }

  /** Named by its text: others may use the same pool with a schema of their own. */
  add(text: string): void {
    this.#names.set(text, `waybill_${createHash('sha256').update(text).digest('hex').slice(0, 24)}`);
  }

  nameOf(text: string): string | undefined {
    return this.#isAllowed ? this.#names.get(text) : undefined;
  }

  /** There is somebody in between after all. The statement was refused before it did anything, so it may be repeated. */
  failed(error: unknown): void {
    if (faultOf(error).kind === 'pooler') this.#isAllowed = false;
  }
}
