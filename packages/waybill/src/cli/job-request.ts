import type { JobOptions, JobRequest } from '@waybill/core';
import type { Options, Values } from './command.ts';
import { readInteger, readJson, readObject } from './read-value.ts';

/** What a job may be given, be it enqueued now or by a schedule. */
export const REQUEST_OPTIONS = {
  queue: { value: 'NAME', about: 'queue of the job', default: 'default' },
  priority: { value: 'N', about: '-100 to 100, higher first', default: '0' },
  meta: { value: 'JSON', about: 'object that travels with the job' },
  retry: { value: 'JSON', about: 'retry policy, like \'{"max_attempts":5,"on_exhaustion":"dead_letter"}\'' },
} as const satisfies Options;

export function readRequest(
  type: string,
  args: readonly string[],
  values: Values<typeof REQUEST_OPTIONS>,
  more: JobOptions = {},
): JobRequest {
  const { queue, priority, meta, retry } = values;
  const options: JobOptions = {
    ...(queue !== undefined && { queue }),
    ...(priority !== undefined && { priority: readInteger('--priority', priority) }),
    ...(retry !== undefined && { retry: readObject('--retry', retry) as NonNullable<JobOptions['retry']> }),
    ...more,
  };
  return {
    type,
    args: args.map((arg, index) => readJson(`Argument ${index + 1}`, arg)),
    ...(meta !== undefined && { meta: readObject('--meta', meta) }),
    ...(Object.keys(options).length > 0 && { options }),
  };
}
