import type { Clock } from '../clock.ts';
import type { Delivery, Hint, ReceiveRequest, Transport } from '../transport/transport.ts';

interface Message {
  hint: Hint;
  number: number;
  visibleAt: number;
  /** Each delivery makes the receipts of earlier ones worthless. */
  deliveries: number;
}

export interface MemoryTransportOptions {
  clock: Clock;
  /** How long a delivered message stays hidden unless it is acknowledged. @defaultValue 30_000 */
  visibilityMs?: number;
}

const tierOf = ({ priority }: Hint): number => -Math.sign(priority);

/** The reference model of a transport that delivers hints: a message queue, with visibility and receipts, in memory. */
export function memoryTransport({ clock, visibilityMs = 30_000 }: MemoryTransportOptions): Transport {
  const messages = new Map<number, Message>();
  const waiting = new Set<() => void>();
  let sent = 0;

  const wakeAll = () => {
    for (const wake of [...waiting]) wake();
  };

  const receiptOf = ({ number, deliveries }: Message): string => `${number}-${deliveries}`;
  const find = ({ receipt }: Delivery): Message | undefined => {
    const message = messages.get(Number(receipt.split('-')[0]));
    return message && receiptOf(message) === receipt ? message : undefined;
  };

  const take = ({ tenant, queues, max }: ReceiveRequest): Delivery[] =>
    [...messages.values()]
      .filter(({ hint }) => hint.tenant === tenant && queues.includes(hint.queue))
      .filter(({ visibleAt }) => visibleAt <= clock.now())
      .sort((a, b) => queues.indexOf(a.hint.queue) - queues.indexOf(b.hint.queue) || tierOf(a.hint) - tierOf(b.hint))
      .slice(0, max)
      .map((message) => {
        message.deliveries += 1;
        message.visibleAt = clock.now() + visibilityMs;
        const { jobId, queue } = message.hint;
        return { tenant, jobId, queue, receipt: receiptOf(message) };
      });

  /** Until something was sent or given back, a hidden message is due again, the time is over or the caller gave up. */
  const change = async (untilMs: number, signal: AbortSignal | undefined): Promise<void> => {
    const times = [...messages.values()].map(({ visibleAt }) => visibleAt).filter((time) => time > clock.now());
    const wakeAt = Math.min(untilMs, ...times);
    const woken = new AbortController();
    const wake = () => woken.abort();
    waiting.add(wake);
    await clock.sleep(wakeAt - clock.now(), signal ? AbortSignal.any([signal, woken.signal]) : woken.signal);
    waiting.delete(wake);
  };

  return {
    capabilities: { name: 'memory', ordering: 'tiers', delivers: 'hints' },
    send: async (hints) => {
      for (const hint of hints) {
        sent += 1;
        const message = { hint: { ...hint }, number: sent, visibleAt: clock.now() + hint.delayMs, deliveries: 0 };
        messages.set(sent, message);
      }
      wakeAll();
    },
    receive: async (request) => {
      const deadline = clock.now() + request.waitMs;
      let deliveries = take(request);
      while (deliveries.length === 0 && clock.now() < deadline && !request.signal?.aborted) {
        await change(deadline, request.signal);
        deliveries = take(request);
      }
      return { kind: 'hints', deliveries };
    },
    ack: async (delivery) => {
      const message = find(delivery);
      if (message) messages.delete(message.number);
    },
    extend: async (delivery, ms) => {
      const message = find(delivery);
      if (message) message.visibleAt = clock.now() + ms;
    },
    release: async (delivery, delayMs) => {
      const message = find(delivery);
      if (message) message.visibleAt = clock.now() + delayMs;
      wakeAll();
    },
    close: async () => messages.clear(),
  };
}
