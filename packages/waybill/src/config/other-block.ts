import type { Found } from './check-config.ts';
import { KEYS } from './keys.ts';

interface Rewritten {
  found: Found[];
  problems: string[];
  notices: string[];
}

const MAKES_QUEUES = 'sqs.createQueues';
const EVENTS_TABLE = 'store.dynamodb.events_table';

/** Some configurations name SQS and DynamoDB in one block, `store: { type: sqs, .. }`. It becomes keys of our own. */
export function rewriteOtherBlock(all: readonly Found[], file: string): Rewritten {
  const other = all.filter(({ key }) => key.standsFor !== undefined);
  const found = all.filter(({ key }) => key.standsFor === undefined);
  if (other.length === 0) return { found, problems: [], notices: [] };
  const has = (path: string): boolean => other.some((one) => one.key.path === path);
  const problems = [
    ...(has('store.type')
      ? []
      : [`'store.type' is missing in ${file}. Write 'type: sqs', or make 'store' an address.`]),
    ...(has('store.dynamodb.jobs_table') ? [] : [`'store.dynamodb.jobs_table' is missing in ${file}. Name the table.`]),
  ];
  for (const { key, path, names, value } of other) {
    for (const target of key.standsFor ?? []) {
      const own = KEYS.find((one) => one.path === target)!;
      const waiting = [...names];
      const ownPath = target.replaceAll('*', () => waiting.shift()!);
      if (found.some((one) => one.path === ownPath || one.path.startsWith(`${ownPath}.`)))
        problems.push(`'${path}' and '${ownPath}' in ${file} say the same. Keep one of them.`);
      // Our spans are milliseconds.
      const isSeconds = key.path.endsWith('_seconds');
      found.push({ key: own, path: ownPath, names, value: isSeconds ? Number(value) * 1_000 : value });
    }
  }
  // In such a block the queues are all there are. With `sqs.createQueues: true` beside it, others are made.
  if (other.some(({ key }) => key.path === 'store.sqs.queues.*') && !found.some((one) => one.path === MAKES_QUEUES))
    found.push({ key: KEYS.find((one) => one.path === MAKES_QUEUES)!, path: MAKES_QUEUES, names: [], value: false });
  const notice = `${file}: '${EVENTS_TABLE}' has no effect. One table holds jobs and what their runs say.`;
  return { found, problems, notices: has(EVENTS_TABLE) ? [notice] : [] };
}
