import { engine, silentLogger, type Waybill } from '@waybill/core';
import { memoryStore } from '@waybill/core/testing';
import { onTestFinished } from 'vitest';
import { type AppOptions, createApp } from '../app.ts';
import type { App } from '../http/env.ts';
import { type Listening, type ListenOptions, serve } from '../serve.ts';

export interface SocketServer extends Listening {
  waybill: Waybill;
  /** Resolves when the server has noticed that the client of a request to this path is gone. */
  noticed(path: string): Promise<void>;
}

/** The real server on a port of its own, over a real engine. */
export async function socketServer(
  limits: Omit<ListenOptions, 'port'> = {},
  given: Partial<AppOptions> | ((waybill: Waybill) => Partial<AppOptions>) = {},
): Promise<SocketServer> {
  const waybill = engine({ store: memoryStore(), logger: silentLogger });
  const options = typeof given === 'function' ? given(waybill) : given;
  const app = createApp({ waybill, version: 'test', logger: silentLogger, ...options });
  const waiting: { path: string; tell: () => void }[] = [];
  const fetch: App['fetch'] = (request, env, context) => {
    const { pathname } = new URL(request.url);
    const told = waiting.filter(({ path }) => path === pathname);
    for (const { tell } of told) request.signal.addEventListener('abort', tell, { once: true });
    return app.fetch(request, env, context);
  };
  const listening = await serve({ fetch } as App, { port: 0, graceMs: 1_000, ...limits });
  onTestFinished(async () => {
    await listening.close();
    await waybill.close();
  });
  return {
    ...listening,
    waybill,
    noticed: (path) => new Promise((tell) => waiting.push({ path, tell })),
  };
}
