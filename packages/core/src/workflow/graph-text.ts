import type { WorkflowInfo, WorkflowNode } from '../waybill.ts';
import { conditionText } from './condition-text.ts';
import { mapOf } from './item-names.ts';

/** A workflow as it is drawn by other programs. */
export type DrawnWorkflow = Pick<WorkflowInfo, 'id' | 'name' | 'state'>;
export type DrawnNode = Pick<WorkflowNode, 'id' | 'node' | 'type' | 'state' | 'outcome' | 'dependsOn' | 'spec'>;

/** Colours by state: of the text's ground. */
const COLOURS = {
  completed: '#c8e6c9',
  active: '#b3e5fc',
  retryable: '#fff9c4',
  discarded: '#ffcdd2',
  cancelled: '#e0e0e0',
  skipped: '#eeeeee',
  available: '#ffffff',
  scheduled: '#ffffff',
  pending: '#ffffff',
} as const;

type Shown = keyof typeof COLOURS;

/** A node that was skipped has completed, and did not run. */
const shownState = ({ state, outcome }: DrawnNode): Shown => (outcome === 'skipped' ? 'skipped' : state);

interface Drawn {
  /** `n0`, `n1`, ..: names may have any character. */
  key: string;
  lines: string[];
  state: Shown;
}

interface Arrow {
  from: string;
  to: string;
  /** From a map to a job that it has made. */
  isItem: boolean;
}

/** By name, so that the same workflow gives the same text. Callbacks are none of its nodes. */
function drawn(nodes: readonly DrawnNode[]): { all: Drawn[]; arrows: Arrow[] } {
  const named = nodes
    .filter(({ node }) => node !== null)
    .sort((a, b) => a.node!.localeCompare(b.node!, 'en', { numeric: true }));
  const keys = new Map(named.map(({ node }, index) => [node!, `n${index}`]));
  const maps = new Set(named.filter(({ spec }) => spec.rules?.map).map(({ node }) => node!));
  const all = named.map((one): Drawn => {
    const { node, type, spec } = one;
    const state = shownState(one);
    const { when, map, signal, review } = spec.rules ?? {};
    const rules = [
      ...(when ? [`if ${conditionText(when)}`] : []),
      ...(map ? [`for each of ${map.over.parent}${map.over.path === undefined ? '' : `.${map.over.path}`}`] : []),
      ...(signal ? ['waits for a signal'] : []),
      ...(review ? ['is reviewed'] : []),
    ];
    return { key: keys.get(node!)!, lines: [node!, type, state, ...rules], state };
  });
  const arrows = named.flatMap(({ node, dependsOn }): Arrow[] => {
    const to = keys.get(node!)!;
    // Retention may have taken a parent away.
    const parents = dependsOn.flatMap((name) => keys.get(name) ?? []);
    const map = mapOf(node!);
    const from = map === undefined || dependsOn.length > 0 || !maps.has(map) ? undefined : keys.get(map);
    return [
      ...parents.map((parent) => ({ from: parent, to, isItem: false })),
      ...(from === undefined ? [] : [{ from, to, isItem: true }]),
    ];
  });
  return { all, arrows };
}

/** The graph for `dot` of Graphviz. */
export function workflowToDot(workflow: DrawnWorkflow, nodes: readonly DrawnNode[]): string {
  const { all, arrows } = drawn(nodes);
  const title = `${workflow.name ?? workflow.id} (${workflow.state})`;
  return [
    `digraph ${dotText(title)} {`,
    `  label=${dotText(title)};`,
    '  rankdir=LR;',
    '  node [shape=box, style="rounded,filled", fontname="sans-serif"];',
    ...all.map(
      ({ key, lines, state }) =>
        `  ${key} [label="${lines.map(dotEscaped).join('\\n')}", fillcolor="${COLOURS[state]}"];`,
    ),
    ...arrows.map(({ from, to, isItem }) => `  ${from} -> ${to}${isItem ? ' [style=dashed]' : ''};`),
    '}\n',
  ].join('\n');
}

/** The graph as a flowchart of Mermaid, as it stands in Markdown. */
export function workflowToMermaid(workflow: DrawnWorkflow, nodes: readonly DrawnNode[]): string {
  const { all, arrows } = drawn(nodes);
  const title = `${workflow.name ?? workflow.id} (${workflow.state})`;
  const states = [...new Set(all.map(({ state }) => state))].sort();
  return [
    ...['---', `title: ${JSON.stringify(plain(title))}`, '---', 'flowchart LR'],
    ...all.map(({ key, lines, state }) => `  ${key}["${lines.map(mermaidEscaped).join('<br>')}"]:::${state}`),
    ...arrows.map(({ from, to, isItem }) => `  ${from} ${isItem ? '-.->' : '-->'} ${to}`),
    ...states.map((state) => `  classDef ${state} fill:${COLOURS[state]},stroke:#555,color:#000`),
    '',
  ].join('\n');
}

/** No line may end where a name says so, and no character may stand for something else. */
const plain = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

const dotEscaped = (text: string): string => plain(text).replaceAll(/[\\"]/g, '\\$&');

const dotText = (text: string): string => `"${dotEscaped(text)}"`;

/** Mermaid knows characters by their numbers, and takes markup and quotes for its own. */
const mermaidEscaped = (text: string): string =>
  plain(text).replaceAll(/[^\p{L}\p{N} .,:_()/=!?+-]/gu, (sign) => `#${sign.codePointAt(0)};`);
