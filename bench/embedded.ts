import { engine, type Store, type Waybill } from '@waybill/core';
import { postgresStore } from '@waybill/sql/postgres';
import { openStore } from 'waybill';

/** With the store's defaults, which are its most durable ones. */
export const openStoreAt = async (address: string): Promise<Store> =>
  address.startsWith('postgres:') ? postgresStore({ url: address }) : openStore(address);

/** The engine as a user has it. */
export async function withEngine<T>(address: string, run: (waybill: Waybill) => Promise<T>): Promise<T> {
  const waybill = engine({ store: await openStoreAt(address) });
  try {
    return await run(waybill);
  } finally {
    await waybill.close();
  }
}
