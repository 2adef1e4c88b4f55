import {
  checkNames,
  didYouMean,
  isObject,
  type JobOptions,
  type JobRequest,
  RETRY_NAMES,
  WaybillError,
} from '@waybill/core';

/** Without the index signature, by which an envelope also takes fields of other programs. */
type NameOf<T> = keyof { [Name in keyof T as string extends Name ? never : Name]: true };

const ENVELOPE: Readonly<Record<NameOf<JobRequest>, true>> = {
  ...{ type: true, args: true, id: true, meta: true, options: true },
};

const OPTIONS: Readonly<Record<NameOf<JobOptions> | 'unique' | 'rate_limit', true>> = {
  ...{ queue: true, priority: true, timeout_ms: true, visibility_timeout_ms: true, scheduled_at: true },
  ...{ delay_until: true, expires_at: true, pending: true, retry: true, dead_letter_retention_ms: true, tags: true },
  ...{ unique: true, rate_limit: true },
};

const OPTION_NAMES = Object.keys(OPTIONS);
/** Options may also stand at the top. */
const TOP_NAMES = [...Object.keys(ENVELOPE), ...OPTION_NAMES];

/**
 * Refuses what is nearly the name of a field. An envelope keeps unknown fields for whoever sent them, so only those are
 * refused that are most likely misspelt; of a retry policy all are.
 */
export function checkEnvelopeNames(owner: string, job: object, more: readonly string[] = []): void {
  refuseNearly(owner, job, [...TOP_NAMES, ...more]);
  const { options, retry } = job as { options?: unknown; retry?: unknown };
  if (isObject(options)) refuseNearly(`${owner}.options`, options, OPTION_NAMES);
  for (const policy of [retry, isObject(options) ? options['retry'] : undefined]) {
    if (isObject(policy)) checkNames(`The retry policy of ${owner}`, policy, RETRY_NAMES);
  }
}

function refuseNearly(owner: string, given: object, known: readonly string[]): void {
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const meant = didYouMean(name, known);
    if (meant === '') continue;
    throw new WaybillError('invalid_request', `${owner} has no '${name}'.${meant}`, { details: { field: name } });
  }
}
