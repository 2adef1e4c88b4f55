import { GroupCommit, type LoggedEvent } from '@waybill/core';
import { type BusEvent, DETAIL_TYPE, sourceOf } from './envelope.ts';
import type { OpenedClient } from './open-client.ts';
import { deflated } from './overflow.ts';
import { MOST_BYTES, MOST_ENTRIES, type PutResult, putEntries } from './put-events.ts';
import type { PutEventsEntry } from './sdk.ts';
import type { EventBusSettings } from './settings.ts';
import type { Translation } from './translate.ts';

/** Requests under way at the same time. */
const REQUESTS = 4;
/** What EventBridge counts for the time of an entry. */
const TIME_BYTES = 14;

/** Puts events on the bus. Events that are published at the same time share requests. */
export class Publisher {
  readonly #settings: EventBusSettings;
  readonly #translation: Translation;
  readonly #puts: GroupCommit<PutEventsEntry, PutResult>;

  constructor({ sdk, client }: OpenedClient, settings: EventBusSettings, translation: Translation) {
    const { timeouts, clock } = settings;
    this.#settings = settings;
    this.#translation = translation;
    this.#puts = new GroupCommit({
      flush: (entries) => putEntries({ sdk, client, timeouts, clock }, entries),
      ...{ maxItems: MOST_ENTRIES, maxBytes: MOST_BYTES, sizeOf: sizeOfEntry, parallel: REQUESTS },
    });
  }

  /** Resolves when the bus has taken the event, or the event is not for the bus. */
  async publish(event: LoggedEvent): Promise<void> {
    const translated = await this.#translation.of(event);
    if (translated) await this.put(translated);
  }

  async put(event: BusEvent): Promise<void> {
    const { bus, app, blobs } = this.#settings;
    const failure = await this.#puts.run({
      ...{ EventBusName: bus, Source: sourceOf(app), DetailType: DETAIL_TYPE },
      ...{ Time: new Date(event.timestamp), Detail: JSON.stringify(await deflated(event, blobs)) },
    });
    if (failure) throw failure;
  }
}

/** As EventBridge counts it. */
function sizeOfEntry({ Source = '', DetailType = '', Detail = '' }: PutEventsEntry): number {
  return TIME_BYTES + [Source, DetailType, Detail].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
}
