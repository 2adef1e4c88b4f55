import { Client } from 'pg';
import { round } from '../result.ts';

/** What a run did with its statements, for whoever asks why it took so long. */
export interface StatementTimes {
  /** The slowest ones: what, when they began (s after the start) and how long they took (ms). */
  slowest: { statement: string; at_s: number; ms: number }[];
  /** The longest stretch in which the process waited for no statement at all, and when it began. */
  longest_pause: { at_s: number; ms: number };
  /** By statement: how many, and their time in all. */
  totals: Record<string, { count: number; ms: number }>;
}

const KEPT = 5;

type Query = Client['query'];

/** Times every statement that this process sends from now on; the function that it answers ends that. */
export function timeStatements(): () => StatementTimes {
  const prototype = Client.prototype as unknown as { query: (...given: unknown[]) => unknown };
  const original = prototype.query;
  const begun = performance.now();
  const slowest: StatementTimes['slowest'] = [];
  const totals: StatementTimes['totals'] = {};
  let underWay = 0;
  let idleSince = begun;
  let pause = { at_s: 0, ms: 0 };
  const ended = (statement: string, since: number) => {
    const now = performance.now();
    underWay -= 1;
    if (underWay === 0) idleSince = now;
    const { count, ms } = totals[statement] ?? { count: 0, ms: 0 };
    totals[statement] = { count: count + 1, ms: round(ms + now - since) };
    slowest.push({ statement, at_s: seconds(since - begun), ms: round(now - since) });
    slowest.sort((a, b) => b.ms - a.ms).splice(KEPT);
  };
  prototype.query = function (this: Client, ...given: unknown[]) {
    const since = performance.now();
    if (underWay === 0 && since - idleSince > pause.ms) {
      pause = { at_s: seconds(idleSince - begun), ms: round(since - idleSince) };
    }
    const answer = (original as (...given: unknown[]) => unknown).apply(this, given) as Partial<Promise<unknown>>;
    if (typeof answer?.then !== 'function') return answer;
    underWay += 1;
    const over = () => ended(nameOf(given[0]), since);
    void (answer as ReturnType<Query> & Promise<unknown>).then(over, over);
    return answer;
  };
  return () => {
    prototype.query = original;
    return { slowest, longest_pause: pause, totals };
  };
}

const seconds = (ms: number): number => round(ms / 1_000, 3);

/** The function that it calls, or how it begins. */
function nameOf(given: unknown): string {
  const text = typeof given === 'string' ? given : ((given as { text?: string } | null)?.text ?? '?');
  const plain = text.replace(/^\s*--.*\n/gm, '').trim();
  return /"?\w+"?\.(\w+_v\d+)\(/.exec(plain)?.[1] ?? plain.slice(0, 40).replace(/\s+/g, ' ');
}
