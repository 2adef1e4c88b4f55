import type { Store } from '../store/store.ts';
import type { Health } from '../waybill.ts';

/** Asks the store for a sign of life. Never throws: a health check that fails is an answer. */
export async function checkHealth(store: Store): Promise<Health> {
  const { name } = store.capabilities;
  const begun = store.clock.monotonic();
  const isAlive = await store.ping().then(
    () => true,
    () => false,
  );
  const latencyMs = Math.round(store.clock.monotonic() - begun);
  return { status: isAlive ? 'ok' : 'degraded', store: { name, status: isAlive ? 'ok' : 'unhealthy', latencyMs } };
}
