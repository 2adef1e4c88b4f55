import { engine, type Waybill } from '@waybill/core';
import { openStore } from 'waybill';

/** The engine as a user has it: defaults, full durability. */
export async function withEngine<T>(store: string, run: (waybill: Waybill) => Promise<T>): Promise<T> {
  const waybill = engine({ store: await openStore(store) });
  try {
    return await run(waybill);
  } finally {
    await waybill.close();
  }
}
