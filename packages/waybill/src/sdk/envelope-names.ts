import {
  checkNames,
  didYouMean,
  ENVELOPE_NAMES,
  isObject,
  MANAGED_NAMES,
  OPTION_NAMES,
  RETRY_NAMES,
  WaybillError,
} from '@waybill/core';

/** Options may also stand at the top. */
const TOP_NAMES = [...ENVELOPE_NAMES, ...OPTION_NAMES];
/** Without these there is no job, so a name that is near to one of them is most likely meant for it. */
const REQUIRED = ['type', 'args'];
/** One letter makes another word of a name this short: `ids`, `tag` and `arg` are fields of other programs. */
const LONGEST_SHORT = 4;

/** Which envelope is checked, for the refusal. */
export interface EnvelopePlace {
  /** The call that it is an argument of, like `jobs.enqueue()`. */
  call?: string;
  /** Where it stands, like `steps[0]`. */
  at: string;
  /** Names that may stand beside those of the envelope. */
  beside?: readonly string[];
}

/**
 * Refuses what is nearly the name of a field. An envelope keeps unknown fields for whoever sent them, so only those are
 * refused that are most likely misspelt; of a retry policy all are.
 */
export function checkEnvelopeNames({ call, at, beside = [] }: EnvelopePlace, job: object): void {
  const [before, The] = call === undefined ? ['', 'The'] : [`${call}: `, 'the'];
  refuseNearly(`${before}${at}`, job, [...TOP_NAMES, ...beside]);
  const { options, retry } = job as { options?: unknown; retry?: unknown };
  if (isObject(options)) refuseNearly(`${before}${at}.options`, options, OPTION_NAMES);
  for (const policy of [retry, isObject(options) ? options['retry'] : undefined]) {
    if (isObject(policy)) checkNames(`${before}${The} retry policy of ${at}`, policy, RETRY_NAMES);
  }
}

function refuseNearly(owner: string, given: object, known: readonly string[]): void {
  const isMeant = (name: string): boolean =>
    name.length > LONGEST_SHORT || (REQUIRED.includes(name) && !Object.hasOwn(given, name));
  for (const name of Object.keys(given)) {
    if (known.includes(name) || MANAGED_NAMES.includes(name)) continue;
    const meant = didYouMean(name, known.filter(isMeant));
    if (meant === '') continue;
    throw new WaybillError('invalid_request', `${owner} has no '${name}'.${meant}`, { details: { field: name } });
  }
}
