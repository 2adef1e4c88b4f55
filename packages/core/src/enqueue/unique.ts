import { createHash } from 'node:crypto';
import type { Fields } from '../check.ts';
import { invalidField } from '../errors.ts';
import { JOB_STATES, type Job, type JobState } from '../job/job.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonicalJson } from './canonical-json.ts';

export const CONFLICT_ACTIONS = ['reject', 'ignore', 'replace', 'replace_except_schedule'] as const;
export type ConflictAction = (typeof CONFLICT_ACTIONS)[number];

const DIMENSIONS = ['type', 'queue', 'args', 'meta'] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** Which other job stands in the way of a new one, and what to do about it. */
export interface UniqueRule {
  /** Fingerprint of the chosen parts of the job. */
  key: string;
  /** The owner of the key is in the way only in one of these states. */
  states: readonly JobState[];
  /** And only this long after it was created; null: without end. */
  periodMs: number | null;
  onConflict: ConflictAction;
}

/** The parts of a job that can make it unique. */
export interface Distinct {
  type: string;
  queue: string;
  args: readonly Json[];
  meta: JsonObject;
}

const LIVE_STATES: readonly JobState[] = ['available', 'active', 'scheduled', 'retryable', 'pending'];
const LONGEST_PERIOD_MS = 366 * 86_400_000;
const MAX_PATHS = 20;
const MAX_PATH = 255;

/** Reads `options.unique`. */
export function checkUnique(options: Fields, job: Distinct): UniqueRule | null {
  const unique = options.fields('unique');
  if (unique === undefined) return null;
  const states = readStates(unique);
  const periodMs = unique.duration('period', { max: LONGEST_PERIOD_MS }) ?? null;
  if (periodMs === 0) throw invalidField(unique.name('period'), 'must be longer than nothing.');
  const onConflict = unique.oneOf('on_conflict', CONFLICT_ACTIONS) ?? 'reject';
  return { key: fingerprint(unique, job), states, periodMs, onConflict };
}

/** Whether a job of another queue may be in the way of this one. */
export function isUniqueAcrossQueues(options: Fields): boolean {
  const unique = options.fields('unique');
  return unique !== undefined && !readDimensions(unique).has('queue');
}

/** Whether the owner of a key is in the way of a new job. */
export function isInTheWay(owner: Job, { states, periodMs }: UniqueRule, now: number): boolean {
  return states.includes(owner.state) && (periodMs === null || now < owner.createdAt + periodMs);
}

function readStates(unique: Fields): readonly JobState[] {
  const states = unique.strings('states', { max: JOB_STATES.length });
  if (states === undefined) return LIVE_STATES;
  const wrong = states.find((state) => !(JOB_STATES as readonly string[]).includes(state));
  if (wrong === undefined && states.length > 0) return states as JobState[];
  throw invalidField(unique.name('states'), `must name some of ${JOB_STATES.join(', ')}.`, { allowed: JOB_STATES });
}

/** The type always counts: jobs of different types are different work, whatever else they share. */
function fingerprint(unique: Fields, job: Distinct): string {
  const dimensions = readDimensions(unique);
  const parts: JsonObject = { type: job.type };
  if (dimensions.has('queue')) parts['queue'] = job.queue;
  if (dimensions.has('args')) parts['args'] = pick(unique, 'args_keys', job.args as Json[]) ?? (job.args as Json[]);
  if (dimensions.has('meta')) {
    const picked = pick(unique, 'meta_keys', job.meta);
    if (picked === undefined) throw invalidField(unique.name('meta_keys'), "is required when 'keys' names meta.");
    parts['meta'] = picked;
  }
  return createHash('sha256').update(canonicalJson(parts)).digest('hex');
}

function readDimensions(unique: Fields): ReadonlySet<string> {
  const keys = unique.strings('keys', { max: DIMENSIONS.length }) ?? ['type'];
  const wrong = keys.find((key) => !DIMENSIONS.includes(key as Dimension));
  if (wrong !== undefined) {
    throw invalidField(unique.name('keys'), `must name some of ${DIMENSIONS.join(', ')}.`, { allowed: DIMENSIONS });
  }
  return new Set(keys);
}

/** The values at the named paths. A path that leads nowhere is refused: it would make strangers collide. */
function pick(unique: Fields, name: string, root: Json[] | JsonObject): JsonObject | undefined {
  const paths = unique.strings(name, { max: MAX_PATHS });
  if (paths === undefined || paths.length === 0) return undefined;
  return Object.fromEntries(
    paths.map((path) => {
      const value = path.length > MAX_PATH ? undefined : valueAt(root, path.split('.'));
      if (value === undefined) {
        throw invalidField(unique.name(name), `names '${path.slice(0, MAX_PATH)}', which the job does not have.`);
      }
      return [path, value];
    }),
  );
}

/** In arguments a path may begin with a position, or with a field of the first argument. */
function valueAt(root: Json | undefined, [step, ...rest]: string[]): Json | undefined {
  if (step === undefined) return root;
  if (typeof root !== 'object' || root === null) return undefined;
  if (Array.isArray(root)) {
    return /^\d+$/.test(step) ? valueAt(root[Number(step)], rest) : valueAt(root[0], [step, ...rest]);
  }
  return Object.hasOwn(root, step) ? valueAt(root[step], rest) : undefined;
}
