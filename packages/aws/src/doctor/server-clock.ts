import type { Clock } from '@waybill/core';
import type { Check } from './check.ts';

/** Clocks of healthy machines differ by less; the date of an answer is good to a second. */
const TOLERATED_MS = 30_000;
/** AWS refuses signatures that are five minutes off, and such a clock will soon be there. */
const REFUSED_MS = 240_000;

/** The part of a command of the SDK that sees answers as they come. */
interface Watched {
  middlewareStack: { add(middleware: never, options: never): void };
}

/** How far the clock of this machine is from that of AWS, by the date that every answer carries, refusals included. */
export class ServerClock {
  readonly #clock: Clock;
  #aheadMs: number | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Has the answer to this command looked at. */
  watch<T extends Watched>(command: T): T {
    const middleware = (next: (args: unknown) => Promise<{ response: unknown }>) => async (args: unknown) => {
      const result = await next(args);
      const { headers = {} } = result.response as { headers?: Record<string, string> };
      const theirs = Date.parse(headers['date'] ?? '');
      if (!Number.isNaN(theirs)) this.#aheadMs = this.#clock.now() - theirs;
      return result;
    };
    // Next to the wire, so that it also sees what the SDK makes an exception of.
    const place = { step: 'deserialize', priority: 'low', name: 'waybillServerClock' };
    command.middlewareStack.add(middleware as never, place as never);
    return command;
  }

  check(name = 'clock'): Check {
    const ahead = this.#aheadMs;
    if (ahead === null) return { name, status: 'warn', message: 'AWS has not told its time' };
    const apart = Math.abs(ahead);
    if (apart <= TOLERATED_MS) return { name, status: 'ok', message: 'as AWS has it' };
    const message = `${Math.round(apart / 1000)} s ${ahead > 0 ? 'ahead of' : 'behind'} AWS`;
    const hint =
      apart > REFUSED_MS
        ? 'AWS refuses what is signed with a clock five minutes off. Let NTP set it.'
        : 'The store goes by the time of DynamoDB, but ids and logs go by this clock. Let NTP set it.';
    return { name, status: apart > REFUSED_MS ? 'fail' : 'warn', message, hint };
  }
}
