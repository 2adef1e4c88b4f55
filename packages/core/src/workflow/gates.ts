import { type Fields, isObject } from '../check.ts';
import { ENVELOPE_NAMES, LONGEST_MS, OPTION_NAMES } from '../enqueue/envelope.ts';
import { invalidField } from '../errors.ts';
import type { GateRule } from '../job/node-rules.ts';
import { itemName } from './item-names.ts';
import type { NodeShape } from './node-shape.ts';

/** Of the row that waits for a signal. No worker gets it. */
export const SIGNAL_TYPE = 'waybill.signal';

/** What a node with `signal` cannot say: it has no job. */
const OF_A_JOB = new Set(['job', ...ENVELOPE_NAMES, ...OPTION_NAMES].filter((name) => name !== 'id'));

/** `true`, or an object with `timeout_ms`. `false` is as good as nothing. */
export function readGate(fields: Fields, name: 'signal' | 'review'): GateRule | undefined {
  const value = fields.value(name);
  if (value === undefined || value === false) return undefined;
  if (value === true) return {};
  if (!isObject(value))
    throw invalidField(fields.name(name), `must be true, or an object such as {"timeout_ms": 60000}.`);
  const asked = fields.fields(name)!;
  asked.refuseUnknown(['timeout_ms']);
  const timeoutMs = asked.integer('timeout_ms', { min: 1, max: LONGEST_MS });
  return timeoutMs === undefined ? {} : { timeoutMs };
}

export function checkSignal(fields: Fields): void {
  const named = [...OF_A_JOB, 'delay_ms', 'map', 'review'].find((name) => fields.has(name));
  if (named !== undefined)
    throw invalidField(
      fields.name(named),
      "contradicts 'signal': a node that waits for a signal has no job of its own.",
    );
  fields.refuseUnknown(['id', 'depends_on', 'when', 'if_skipped', 'signal']);
}

/**
 * A node with a review becomes two: one does the work, as iteration 1, and the node itself waits for it and for the
 * decision. So what stands behind the node finds it under its name.
 */
export function withGates(nodes: readonly NodeShape[]): NodeShape[] {
  return nodes.flatMap((node) => {
    const { review, ...others } = node.rules ?? {};
    if (!review) return [node];
    const { rules: _, ...rest } = node;
    const work = { ...rest, name: itemName(node.name, 1), ...(Object.keys(others).length > 0 && { rules: others }) };
    const { id: __, ...request } = node.request;
    return [work, { name: node.name, parents: [work.name], request, rules: { review } }];
  });
}
