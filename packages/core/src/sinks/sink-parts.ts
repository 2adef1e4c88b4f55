import type { Clock } from '../clock.ts';
import type { LoggedEvent } from '../events/job-event.ts';
import type { Told } from '../events/subject-event.ts';
import type { Logger } from '../logger.ts';
import type { EventLog } from '../store/event-log.ts';
import type { LockStore } from '../store/locks.ts';
import type { Events } from '../waybill.ts';
import type { WindowBounds } from './delivery-window.ts';
import type { DeliveryObserver } from './sink.ts';
import type { SinkStates } from './sink-states.ts';

/** What every run of a sink needs of the engine. */
export interface SinkParts {
  states: SinkStates;
  locks: LockStore;
  follow: Events['follow'];
  read: EventLog['read'];
  /** Gets what is kept outside of the log; fails where that cannot be read now. */
  open(event: LoggedEvent): Promise<LoggedEvent>;
  tell(told: Told): Promise<void>;
  clock: Clock;
  logger: Logger;
  owner: string;
  pauseAfterMs: number;
  bounds: WindowBounds;
  observe?: DeliveryObserver;
}

/**
 * `stopped`: asked to. `paused`: it takes nothing until it is resumed. `changed`: what is kept of it was changed by
 * somebody else. `lost`: the lock's lease has ended.
 */
export type RunEnd = 'stopped' | 'paused' | 'changed' | 'lost';
