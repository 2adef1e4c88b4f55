import type { Json } from '@waybill/core';

/** A call of a tool that waits for a person. */
export interface Pending {
  key: string;
  kind: 'question' | 'approval';
  tool: string;
  /** As the model gave it, without the known secrets. */
  input: Json;
  /** Of the call as it was made: only this one is approved. */
  digest: string;
}
