import { type EngineHandlerOptions, functionEngine, httpHandler } from '@waybill/aws/lambda';
import { type Engine, WaybillError } from '@waybill/core';
import { type App, asksWho } from '@waybill/server';

export interface ApiHandlerOptions extends EngineHandlerOptions {
  /** The app on this engine: `(waybill) => createApp({ waybill, auth, .. })`. */
  app(waybill: Engine): App;
  /** Take requests although nobody has to show who they are: something else keeps strangers out. @defaultValue false */
  noAuth?: boolean;
}

/**
 * A function that answers the requests of an API on a store: what a server does, without its loops. The upkeep function does
 * what these would.
 */
export function apiHandler({ app: makeApp, noAuth = false, ...options }: ApiHandlerOptions) {
  const opened = functionEngine(options);
  return httpHandler({
    open: async () => {
      const { engine, idle } = await opened();
      const app = makeApp(engine);
      if (!noAuth && !asksWho(app)) throw openToAll();
      return { app, idle };
    },
  });
}

function openToAll(): WaybillError {
  const message = 'Refusing to answer: anybody who reaches this function could use its API.';
  const hint = 'Make callers show a key (auth of createApp), or say noAuth when something else keeps strangers out.';
  return new WaybillError('forbidden', message, { hint });
}
