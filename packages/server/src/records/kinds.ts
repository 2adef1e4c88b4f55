import { incidents } from './incidents.ts';
import type { RecordKind } from './record-kind.ts';
import { webhookKind } from './webhooks.ts';

const TOLD_TO_WEBHOOKS: readonly RecordKind[] = [incidents];

export const webhooks: RecordKind = webhookKind(TOLD_TO_WEBHOOKS.flatMap(({ events }) => events));

/** Every kind of record that has routes. */
export const RECORD_KINDS: readonly RecordKind[] = [...TOLD_TO_WEBHOOKS, webhooks];

export const RECORD_EVENT_TYPES = RECORD_KINDS.flatMap(({ events }) => events);
