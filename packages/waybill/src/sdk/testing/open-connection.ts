import { silentLogger } from '@waybill/core';
import { createApp, serve } from '@waybill/server';
import { onTestFinished } from 'vitest';
import { type Connection, connect } from '../connect.ts';

/** A connection to an engine in this process. Closed when the test ends. */
export async function embedded(): Promise<Connection> {
  const waybill = await connect('sqlite::memory:', { logger: silentLogger });
  onTestFinished(() => waybill.close());
  return waybill;
}

/** A connection to a server on a port of its own. Both are closed when the test ends. */
export async function overHttp(): Promise<Connection> {
  const server = await serve(createApp({ waybill: await embedded(), version: 'test' }), { port: 0, graceMs: 100 });
  const waybill = await connect(server.url, { logger: silentLogger });
  onTestFinished(async () => {
    await waybill.close();
    await server.close();
  });
  return waybill;
}
