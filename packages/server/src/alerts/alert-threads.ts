import { createHash } from 'node:crypto';
import { type Records, type StoredRecord, WaybillError } from '@waybill/core';

const KIND = 'alert-thread';
/** Longer than any incident that somebody still answers to. */
const KEPT_MS = 30 * 86_400_000;

/** What a sink has told of an incident since it was opened last. */
export interface Thread {
  /** The id of the last delivery. */
  told: string;
  /** Of the first message, where answers can be put under it. */
  ts?: string;
}

interface Place {
  sink: string;
  tenant: string;
  incident: string;
}

/** Kept beside the incident: a delivery that is repeated, on this server or on another one, sends nothing twice. */
export class AlertThreads {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async of(place: Place): Promise<Thread | null> {
    const record = await this.#read(place);
    if (record === null) return null;
    const { told, ts } = record.value;
    return { told: typeof told === 'string' ? told : '', ...(typeof ts === 'string' && { ts }) };
  }

  async note(place: Place, thread: Thread, now: number): Promise<void> {
    const { tenant } = place;
    const expected = (await this.#read(place))?.version ?? 0;
    const value = { ...thread };
    await this.#records.put({ kind: KIND, id: idOf(place), value, expected, expiresAt: now + KEPT_MS }, { tenant });
  }

  async #read(place: Place): Promise<StoredRecord | null> {
    try {
      return await this.#records.get(KIND, idOf(place), { tenant: place.tenant });
    } catch (error) {
      if (error instanceof WaybillError && error.code === 'not_found') return null;
      throw error;
    }
  }
}

const idOf = ({ sink, incident }: Place): string => `${sink}:${createHash('sha256').update(incident).digest('hex')}`;
