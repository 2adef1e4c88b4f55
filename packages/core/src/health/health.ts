import type { Clock } from '../clock.ts';
import { WaybillError } from '../errors.ts';
import type { Store } from '../store/store.ts';
import type { Transport } from '../transport/transport.ts';
import type { AilingSink, Health, MaintenanceHealth, Pulse, UnknownTypesHealth } from '../waybill.ts';

/** A part that has not answered by then is unhealthy: load balancers give up on a check that takes longer. */
const ANSWER_WITHIN_MS = 6_000;

/**
 * Asks the store, and what carries the hints, for a sign of life. Never throws: a check that fails is an answer. Never
 * hangs: a part that does not answer in time is reported as such.
 */
export async function checkHealth(
  store: Store,
  transport?: Transport,
  askMaintenance?: () => Promise<MaintenanceHealth | undefined>,
  unknownTypes?: UnknownTypesHealth,
  sinks: readonly AilingSink[] = [],
): Promise<Health> {
  const { clock } = store;
  const ping = transport?.ping?.bind(transport);
  const [inStore, inTransport, maintenance] = await Promise.all([
    feel(clock, store.capabilities.name, () => store.ping()),
    transport && ping && feel(clock, transport.capabilities.name, ping),
    askMaintenance?.(),
  ]);
  const isWell = [inStore, inTransport, maintenance].every((part) => (part?.status ?? 'ok') === 'ok');
  return {
    status: isWell ? 'ok' : 'degraded',
    store: inStore,
    ...(inTransport && { transport: inTransport }),
    ...(maintenance && { maintenance }),
    ...(unknownTypes && { unknownTypes }),
    ...(sinks.length > 0 && { sinks }),
  };
}

async function feel(clock: Clock, name: string, ping: () => Promise<void>): Promise<Pulse> {
  const begun = clock.monotonic();
  const latencyMs = () => Math.round(clock.monotonic() - begun);
  const ended = new AbortController();
  const late = clock.sleep(ANSWER_WITHIN_MS, ended.signal).then(() => {
    if (!ended.signal.aborted) throw tooLate(name);
  });
  try {
    await Promise.race([ping(), late]);
    return { name, status: 'ok', latencyMs: latencyMs() };
  } catch (error) {
    // Whatever else went wrong was not worded for those who ask.
    const reason = error instanceof WaybillError ? { reason: error.message } : {};
    return { name, status: 'unhealthy', latencyMs: latencyMs(), ...reason };
  } finally {
    ended.abort();
  }
}

const tooLate = (name: string): WaybillError =>
  new WaybillError('unavailable', `${name} did not answer within ${ANSWER_WITHIN_MS / 1_000} seconds.`);
