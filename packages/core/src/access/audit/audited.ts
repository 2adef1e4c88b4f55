import { type ErrorCode, WaybillError } from '../../errors.ts';
import type { DeadLetters, Waybill } from '../../waybill.ts';
import { ADMINISTRATIVE_CALLS, type CallFacts, MESSAGE_CALLS } from './administrative-calls.ts';

/** What was done, as a port sees it; who did it is known to whoever made the port. */
export interface DoneCall {
  action: string;
  target?: string;
  /** The tenant that the call named, where it named one and was not refused. */
  tenant?: string;
  outcome: 'ok' | ErrorCode;
  /** It would have changed nothing. The caller may have meant more than to read. */
  isRead?: true;
}

/** Writes it down. Must not fail: what was done is done. */
export type TellDone = (done: DoneCall) => Promise<void>;

type Call = (...given: unknown[]) => Promise<unknown>;
type Reader = ((...given: unknown[]) => CallFacts) | null;

type Optional = 'records' | 'keys' | 'audit' | 'sinks';

/**
 * The port with every administrative call written down, refused ones too. A class with getters, because one is made for
 * every request and most of them use one group.
 */
class AuditedPort implements Omit<Waybill, Optional> {
  readonly #port: Waybill;
  readonly #tell: TellDone;

  constructor(port: Waybill, tell: TellDone) {
    this.#port = port;
    this.#tell = tell;
  }

  get jobs() {
    return this.#audited('jobs');
  }

  get deadLetters(): DeadLetters {
    const deadLetters = this.#audited('deadLetters');
    const { messages } = deadLetters;
    if (messages === undefined) return deadLetters;
    return { ...deadLetters, messages: wrapped(messages, 'deadLetters.messages', MESSAGE_CALLS, this.#tell) };
  }

  get queues() {
    return this.#audited('queues');
  }

  get limits() {
    return this.#audited('limits');
  }

  get crons() {
    return this.#audited('crons');
  }

  get workflows() {
    return this.#audited('workflows');
  }

  get workers() {
    return this.#audited('workers');
  }

  get tenants() {
    return this.#audited('tenants');
  }

  get questions() {
    return this.#audited('questions');
  }

  get budgets() {
    return this.#audited('budgets');
  }

  get events() {
    return this.#port.events;
  }

  get checks() {
    return this.#port.checks;
  }

  /** Undefined where the port has none, as the interface says of an optional group. */
  get records() {
    return this.#port.records && this.#audited('records');
  }

  get keys() {
    return this.#port.keys && this.#audited('keys');
  }

  get audit() {
    return this.#port.audit;
  }

  get sinks() {
    return this.#port.sinks;
  }

  health() {
    return this.#port.health();
  }

  close() {
    return this.#port.close();
  }

  #audited<Group extends keyof typeof ADMINISTRATIVE_CALLS>(group: Group): NonNullable<Waybill[Group]> {
    return wrapped(this.#port[group]!, group, ADMINISTRATIVE_CALLS[group], this.#tell);
  }
}

export const audited = (port: Waybill, tell: TellDone): Waybill => new AuditedPort(port, tell) as Waybill;

function wrapped<Group extends object>(group: Group, name: string, readers: object, tell: TellDone): Group {
  const calls = { ...group } as unknown as Record<string, Call>;
  for (const [callName, reader] of Object.entries(readers as Record<string, Reader>)) {
    const call = calls[callName];
    if (reader === null || call === undefined) continue;
    calls[callName] = (...given) =>
      writtenDown(
        () => call(...given),
        async (outcome) => {
          const facts = reader(...given);
          if (!facts.isRead || outcome === 'forbidden') await tell(doneBy(`${name}.${callName}`, facts, outcome));
        },
      );
  }
  return calls as unknown as Group;
}

/**
 * Answers, or is refused, as the call is, once its outcome was told. `outcomeOf`: for a call that answers that it came to
 * nothing, instead of being refused.
 */
export async function writtenDown<T>(
  call: () => Promise<T>,
  tell: (outcome: DoneCall['outcome']) => Promise<void>,
  outcomeOf: (answer: T) => DoneCall['outcome'] = () => 'ok',
): Promise<T> {
  const [called] = await Promise.allSettled([call()]);
  await tell(called.status === 'fulfilled' ? outcomeOf(called.value) : WaybillError.from(called.reason).code);
  if (called.status === 'rejected') throw called.reason;
  return called.value;
}

function doneBy(
  call: string,
  { target, tenant, action = call, isRead }: CallFacts,
  outcome: DoneCall['outcome'],
): DoneCall {
  return {
    ...{ action, outcome },
    ...(isRead && { isRead }),
    ...(typeof target === 'string' && { target }),
    // A tenant that was refused may be none at all, or that of others.
    ...(typeof tenant === 'string' && outcome === 'ok' && { tenant }),
  };
}
