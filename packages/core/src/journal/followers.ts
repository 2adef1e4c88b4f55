import type { JournalPlace } from '../store/journal.ts';
import type { JobKey } from '../store/query.ts';
import type { StoreCapabilities } from '../store/store.ts';
import { type Patience, Topic, type TopicParts } from './topic.ts';

/** Where writes of other processes wake this one, reads at intervals only catch wake-ups that were lost. */
const WITH_WAKE_UPS: Patience = { firstMs: 2_500, mostMs: 5_000 };
const WITHOUT_WAKE_UPS: Patience = { firstMs: 250, mostMs: 5_000 };

interface FollowersParts extends Omit<TopicParts, 'patience'> {
  capabilities: Pick<StoreCapabilities, 'wakesAcrossProcesses'>;
}

/** All topics of this process. The store is listened to for as long as there is one. */
export class Followers {
  readonly #parts: FollowersParts;
  readonly #topics = new Map<string, Topic>();
  /** Ids of jobs are unique in a tenant, and nearly always at all. */
  readonly #byId = new Map<string, Set<Topic>>();
  #stopListening: (() => void) | undefined;

  constructor(parts: FollowersParts) {
    this.#parts = parts;
  }

  /** How many jobs are followed. */
  get size(): number {
    return this.#topics.size;
  }

  /** How far the topic of a job has read, where there is one. */
  reachedOf({ tenant, id }: JobKey): JournalPlace | undefined {
    return this.#topics.get(`${tenant}\n${id}`)?.place;
  }

  topicOf(key: JobKey): Topic {
    const name = `${key.tenant}\n${key.id}`;
    const known = this.#topics.get(name);
    if (known) return known;
    const { journal, capabilities } = this.#parts;
    const patience = capabilities.wakesAcrossProcesses ? WITH_WAKE_UPS : WITHOUT_WAKE_UPS;
    const topic: Topic = new Topic({ ...this.#parts, patience }, key, () => this.#remove(name, topic));
    this.#topics.set(name, topic);
    const same = this.#byId.get(key.id) ?? new Set();
    this.#byId.set(key.id, same.add(topic));
    this.#stopListening ??= journal.onGrown((ids) => this.#ring(ids));
    return topic;
  }

  #ring(ids: readonly string[] | undefined): void {
    if (ids === undefined) for (const topic of this.#topics.values()) topic.ring();
    else for (const id of ids) for (const topic of this.#byId.get(id) ?? []) topic.ring();
  }

  #remove(name: string, topic: Topic): void {
    if (this.#topics.get(name) !== topic) return;
    this.#topics.delete(name);
    const same = this.#byId.get(topic.key.id);
    same?.delete(topic);
    if (same?.size === 0) this.#byId.delete(topic.key.id);
    if (this.#topics.size > 0) return;
    this.#stopListening?.();
    this.#stopListening = undefined;
  }
}
