import type { Condition, IfSkipped, MapRule } from '../../job/node-rules.ts';
import type { Json, JsonObject } from '../../json.ts';

/** A node of a random graph: what is asked for, and what its handler does. */
export interface RandomNode {
  id: string;
  parents: string[];
  when?: Condition;
  delayMs?: number;
  ifSkipped?: IfSkipped;
  map?: MapRule;
  /** It waits for the signal of its name, which is sent at once, or when nothing else goes on. */
  signal?: 'early' | 'late';
  /** It is reviewed, and so often it must be done again. */
  revisions?: number;
  /** Its handler fails for good. */
  fails: boolean;
  result: JsonObject;
}

/** Items of a list from here on let their jobs fail. */
export const FAILING_ITEM = 90;

/** Numbers that depend on the seed alone, so that a failing run can be repeated. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** A graph without circles: parents come from the nodes just before, so that it is deep as well as wide. */
export function randomGraph(seed: number, size: number): RandomNode[] {
  const pick = numbers(seed);
  const nodes: RandomNode[] = [];
  for (let n = 0; n < size; n += 1) {
    const count = n === 0 ? 0 : pick(4);
    const before = Array.from({ length: count }, () => `n${Math.max(0, n - 1 - pick(Math.min(n, 12)))}`);
    const parents = [...new Set(before)];
    const list = Array.from({ length: pick(4) }, () => (pick(25) === 0 ? FAILING_ITEM + pick(9) : pick(50)));
    const result = { n, score: pick(10), ...(pick(12) > 0 && { list }), note: pick(3) === 0 ? null : `note ${n}` };
    const node: RandomNode = { id: `n${n}`, parents, fails: pick(40) === 0, result };
    nodes.push(withGate(parents.length === 0 ? node : withRules(node, pick), pick));
  }
  return nodes;
}

function withRules(node: RandomNode, pick: (below: number) => number): RandomNode {
  const parent = node.parents[pick(node.parents.length)]!;
  return {
    ...node,
    ...(pick(4) === 0 && { when: randomCondition(node.parents, pick, 0) }),
    ...(pick(8) === 0 && { delayMs: 500 * (1 + pick(5)) }),
    ...(pick(6) === 0 && { ifSkipped: pick(2) === 0 ? 'skip' : 'run' }),
    ...(pick(6) === 0 && { map: { over: { parent, path: 'list' } } }),
  };
}

function withGate(node: RandomNode, pick: (below: number) => number): RandomNode {
  const kind = pick(12);
  const { map, delayMs: _, ...others } = node;
  if (kind === 0) return { ...others, fails: false, signal: pick(2) === 0 ? 'early' : 'late' };
  return kind < 3 && !map ? { ...node, revisions: pick(3) } : node;
}

/** What its handler answers; each iteration of a reviewed node has another result. */
export const resultOf = ({ result, revisions }: RandomNode, iteration: number): JsonObject =>
  revisions === undefined ? result : { ...result, iteration };

function randomCondition(parents: readonly string[], pick: (below: number) => number, depth: number): Condition {
  const inner = () => randomCondition(parents, pick, depth + 1);
  const kind = depth < 2 ? pick(9) : pick(6);
  if (kind === 6) return { not: inner() };
  if (kind === 7) return { all: [inner(), inner()] };
  if (kind === 8) return { any: [inner(), inner()] };
  const parent = parents[pick(parents.length)]!;
  const [score, note] = [
    { parent, path: 'score' },
    { parent, path: 'note' },
  ];
  const bound = pick(10);
  const forms: Condition[] = [
    { ...score, gt: bound },
    { ...score, lte: bound },
    { ...score, in: [bound, pick(10), pick(10)] },
    { ...note, exists: pick(2) === 0 },
    { ...note, notEquals: null },
    { ...score, equals: bound },
  ];
  return forms[kind]!;
}

/** As a producer writes it. */
export function requestOf(nodes: readonly RandomNode[], options: JsonObject): Json {
  return nodes.map(({ id, parents, when, delayMs, ifSkipped, map, signal, revisions }) => ({
    id,
    depends_on: parents,
    ...(signal ? { signal: true } : { type: 'test.node', args: [id], options }),
    ...(revisions !== undefined && { review: true }),
    ...(when && { when: when as unknown as Json }),
    ...(delayMs !== undefined && { delay_ms: delayMs }),
    ...(ifSkipped && { if_skipped: ifSkipped }),
    ...(map && { map: map as unknown as Json }),
  }));
}
