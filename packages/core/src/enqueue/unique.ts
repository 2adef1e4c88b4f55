import { createHash } from 'node:crypto';
import type { Fields } from '../check.ts';
import { formatDuration } from '../duration.ts';
import { invalidField } from '../errors.ts';
import { JOB_STATES, type Job, type JobState } from '../job/job.ts';
import type { Json, JsonObject } from '../json.ts';
import { canonicalJson } from './canonical-json.ts';

export const CONFLICT_ACTIONS = ['reject', 'ignore', 'replace', 'replace_except_schedule'] as const;
export type ConflictAction = (typeof CONFLICT_ACTIONS)[number];

const DIMENSIONS = ['type', 'queue', 'args', 'meta'] as const;
type Dimension = (typeof DIMENSIONS)[number];

/** `options.unique` as a producer writes it: which other job stands in the way of a new one; see docs/uniqueness.md. */
export interface UniqueOptions {
  /** @defaultValue ['type'] */
  keys?: Dimension[];
  /** Instead of `keys`, as the specification's JSON format and most public clients write it: fields of the arguments. */
  key?: string[];
  args_keys?: string[];
  meta_keys?: string[];
  /** @defaultValue every state that is not an end */
  states?: JobState[];
  /** ISO 8601, like `PT1H`. @defaultValue without end */
  period?: string;
  /** The same in milliseconds, as most public clients write it. */
  period_ms?: number;
  /** @defaultValue 'reject' */
  on_conflict?: ConflictAction;
}

const UNIQUE_FIELDS: Readonly<Record<keyof UniqueOptions, true>> = {
  keys: true,
  key: true,
  args_keys: true,
  meta_keys: true,
  states: true,
  period: true,
  period_ms: true,
  on_conflict: true,
};
/** Every name of `options.unique`. */
export const UNIQUE_NAMES: readonly string[] = Object.keys(UNIQUE_FIELDS);

/** The rule, checked. */
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
  unique.refuseUnknown(UNIQUE_NAMES);
  const states = readStates(unique);
  const periodMs = unique.durationOrMs('period', { max: LONGEST_PERIOD_MS }) ?? null;
  if (periodMs === 0) throw invalidField(unique.name('period'), 'must be longer than nothing.');
  const onConflict = unique.oneOf('on_conflict', CONFLICT_ACTIONS) ?? 'reject';
  return { key: fingerprint(unique, job), states, periodMs, onConflict };
}

/** The rule as it was sent, and its period under the first name too: whoever reads a stored rule looks for no other. */
export function keptUnique(sent: JsonObject, { periodMs }: UniqueRule): JsonObject {
  return periodMs === null || typeof sent['period'] === 'string' ? sent : { ...sent, period: formatDuration(periodMs) };
}

/** Whether a job of another queue may be in the way of this one. */
export function isUniqueAcrossQueues(options: Fields, args: readonly Json[]): boolean {
  const unique = options.fields('unique');
  return unique !== undefined && !readDimensions(unique, args).names.has('queue');
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
  const { names, paths } = readDimensions(unique, job.args);
  const parts: JsonObject = { type: job.type };
  if (names.has('queue')) parts['queue'] = job.queue;
  if (names.has('args')) parts['args'] = pick(unique, 'args_keys', job.args as Json[]) ?? (job.args as Json[]);
  else if (paths.length > 0) parts['args'] = valuesAt(unique, 'key', paths, job.args as Json[]);
  if (names.has('meta')) {
    const picked = pick(unique, 'meta_keys', job.meta);
    if (picked === undefined) throw invalidField(unique.name('meta_keys'), "is required when 'keys' names meta.");
    parts['meta'] = picked;
  }
  return createHash('sha256').update(canonicalJson(parts)).digest('hex');
}

/** What makes a job unique: whole parts of it, and single values of its arguments. */
interface Dimensions {
  names: ReadonlySet<string>;
  paths: readonly string[];
}

function readDimensions(unique: Fields, args: readonly Json[]): Dimensions {
  const key = unique.strings('key', { max: MAX_PATHS });
  if (key !== undefined) {
    if (unique.has('keys'))
      throw invalidField(unique.name('key'), `means the same as '${unique.name('keys')}': send one.`);
    return readKey(key, args);
  }
  const keys = unique.strings('keys', { max: DIMENSIONS.length }) ?? ['type'];
  const wrong = keys.find((name) => !isDimension(name));
  if (wrong !== undefined) {
    throw invalidField(unique.name('keys'), `must name some of ${DIMENSIONS.join(', ')}.`, { allowed: DIMENSIONS });
  }
  return { names: new Set(keys), paths: [] };
}

/**
 * In the specification's JSON format `key` names fields of the arguments; one public client sends the words of `keys` under
 * this name. A field of the arguments goes first: taken for a word of `keys` it would make strangers collide. An empty list
 * means all arguments.
 */
function readKey(key: readonly string[], args: readonly Json[]): Dimensions {
  if (key.length === 0) return { names: new Set(['args']), paths: [] };
  if (key.every(isDimension) && key.includes('args')) return { names: new Set(key), paths: [] };
  const isName = (item: string) => isDimension(item) && valueAt(args as Json[], item.split('.')) === undefined;
  return { names: new Set(key.filter(isName)), paths: key.filter((item) => !isName(item)) };
}

const isDimension = (name: string): boolean => DIMENSIONS.includes(name as Dimension);

/** The values that the named field asks for. */
function pick(unique: Fields, name: string, root: Json[] | JsonObject): JsonObject | undefined {
  const paths = unique.strings(name, { max: MAX_PATHS });
  return paths === undefined || paths.length === 0 ? undefined : valuesAt(unique, name, paths, root);
}

/** The values at the paths. A path that leads nowhere is refused: it would make strangers collide. */
function valuesAt(unique: Fields, name: string, paths: readonly string[], root: Json[] | JsonObject): JsonObject {
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
