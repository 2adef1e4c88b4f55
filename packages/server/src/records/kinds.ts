import { incidents } from './incidents.ts';
import type { RecordKind } from './record-kind.ts';

/** Every kind of record that has routes. */
export const RECORD_KINDS: readonly RecordKind[] = [incidents];

export const RECORD_EVENT_TYPES = RECORD_KINDS.flatMap(({ events }) => events);
