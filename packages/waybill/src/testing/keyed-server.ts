import { type KeyRequest, type Waybill, WaybillError } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { onTestFinished } from 'vitest';
import { open } from '../sdk/open.ts';

export interface KeyedServer {
  url: string;
  /** The engine behind it. */
  waybill: Waybill;
  /** Makes a key and answers its secret. */
  secretFor(request: Partial<KeyRequest>, tenant?: string): Promise<string>;
}

/** A server on a port of its own that takes nobody without a key. Closed when the test ends. */
export async function keyedServer(): Promise<KeyedServer> {
  const waybill = await open('sqlite::memory:', {});
  const app = createApp({
    ...{ waybill, version: 'test' },
    auth: async (asking) => {
      const secret = /^Bearer (.+)$/.exec(asking.header('Authorization') ?? '')?.[1] ?? '';
      const holder = await waybill.keys!.identify(secret);
      if (holder === null) throw new WaybillError('unauthenticated', 'This server takes nobody without a valid key.');
      return holder.principal;
    },
  });
  const server = await serve(app, { port: 0, graceMs: 100 });
  onTestFinished(async () => {
    await server.close();
    await waybill.close();
  });
  return {
    ...{ url: server.url, waybill },
    secretFor: async (request, tenant = '') =>
      (await waybill.keys!.create({ name: 'test', scopes: ['admin'], ...request }, { tenant })).secret,
  };
}
