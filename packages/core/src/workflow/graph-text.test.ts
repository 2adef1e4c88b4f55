import fc from 'fast-check';
import { expect, test } from 'vitest';
import { aJobIn } from '../testing/factories.ts';
import { type DrawnNode, workflowToDot, workflowToMermaid } from './graph-text.ts';

const node = (name: string, dependsOn: string[] = [], more: Partial<DrawnNode> = {}): DrawnNode => ({
  ...aJobIn('pending'),
  ...{ node: name, type: 'a.b', dependsOn, ...more },
});
const flow = { id: 'ID', name: 'release', state: 'running' } as const;
const when = { parent: 'build', path: 'ok', equals: '"; } evil' };
const NODES = [
  node('build', [], { state: 'completed' }),
  node('check', ['build'], { spec: { args: [], meta: {}, rules: { when } } }),
  node('each', ['build'], { spec: { args: [], meta: {}, rules: { map: { over: { parent: 'build' } } } } }),
  node('each[0]', [], { state: 'active' }),
  node('last', ['check', 'each', 'gone'], { state: 'completed', outcome: 'skipped' }),
];

test('a workflow as DOT', () => {
  expect(`\n${workflowToDot(flow, NODES)}`).toMatchInlineSnapshot(`
    "
    digraph "release (running)" {
      label="release (running)";
      rankdir=LR;
      node [shape=box, style="rounded,filled", fontname="sans-serif"];
      n0 [label="build\\na.b\\ncompleted", fillcolor="#c8e6c9"];
      n1 [label="check\\na.b\\npending\\nif build.ok = \\"\\\\\\"; } evil\\"", fillcolor="#ffffff"];
      n2 [label="each\\na.b\\npending\\nfor each of build", fillcolor="#ffffff"];
      n3 [label="each[0]\\na.b\\nactive", fillcolor="#b3e5fc"];
      n4 [label="last\\na.b\\nskipped", fillcolor="#eeeeee"];
      n0 -> n1;
      n0 -> n2;
      n2 -> n3 [style=dashed];
      n1 -> n4;
      n2 -> n4;
    }
    "
  `);
});

test('a reviewed node stands behind its iterations, and nothing goes in a circle', () => {
  const review = { spec: { args: [], meta: {}, rules: { review: {} } } };
  const nodes = [
    node('draft', ['draft[1]', 'draft[2]'], review),
    node('draft[1]', [], { state: 'completed' }),
    node('draft[2]', ['draft[1]'], { state: 'completed' }),
  ];
  const arrows = workflowToDot(flow, nodes).match(/n\d -> n\d.*/g);
  expect(arrows).toEqual(['n1 -> n0;', 'n2 -> n0;', 'n1 -> n2;']);
  expect(workflowToDot(flow, nodes)).toContain('is reviewed');
});

test('a workflow as Mermaid', () => {
  expect(`\n${workflowToMermaid(flow, NODES)}`).toMatchInlineSnapshot(`
    "
    ---
    title: "release (running)"
    ---
    flowchart LR
      n0["build<br>a.b<br>completed"]:::completed
      n1["check<br>a.b<br>pending<br>if build.ok = #34;#92;#34;#59; #125; evil#34;"]:::pending
      n2["each<br>a.b<br>pending<br>for each of build"]:::pending
      n3["each#91;0#93;<br>a.b<br>active"]:::active
      n4["last<br>a.b<br>skipped"]:::skipped
      n0 --> n1
      n0 --> n2
      n2 -.-> n3
      n1 --> n4
      n2 --> n4
      classDef active fill:#b3e5fc,stroke:#555,color:#000
      classDef completed fill:#c8e6c9,stroke:#555,color:#000
      classDef pending fill:#ffffff,stroke:#555,color:#000
      classDef skipped fill:#eeeeee,stroke:#555,color:#000
    "
  `);
});

const QUOTED = /"((?:[^"\\]|\\.)*)"/y;

/** A DOT file of statements on lines, as strictly as the language has its strings. Fails where it is none. */
function parseDot(text: string): { title: string; labels: string[]; edges: string[] } {
  const [head = '', ...lines] = text.trimEnd().split('\n');
  expect(lines.pop()).toBe('}');
  const stringAt = (line: string, at: number): string => {
    QUOTED.lastIndex = at;
    const found = QUOTED.exec(line);
    if (found === null) throw new Error(`No string at ${at}: ${line}`);
    return found[0];
  };
  const title = stringAt(head, 'digraph '.length);
  expect(head).toBe(`digraph ${title} {`);
  const [label, , , ...rest] = lines;
  expect(label).toBe(`  label=${title};`);
  const [labels, edges]: [string[], string[]] = [[], []];
  for (const line of rest) {
    const begin = /^ {2}n\d+ \[label=/.exec(line)?.[0];
    if (begin === undefined) {
      expect(line).toMatch(/^ {2}n\d+ -> n\d+( \[style=dashed\])?;$/);
      edges.push(line);
      continue;
    }
    const text = stringAt(line, begin.length);
    expect(line.slice(begin.length + text.length)).toMatch(/^, fillcolor="#[0-9a-f]{6}"\];$/);
    labels.push(text.slice(1, -1));
  }
  return { title, labels, edges };
}

/** As Graphviz reads the first line of a label. */
const firstLine = (label: string): string => label.split(/(?<!\\)(?:\\\\)*\\n/)[0]!.replaceAll(/\\(.)/g, '$1');
const oneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');

test('hostile names stay inside of their strings', () => {
  const anyName = fc.string({ unit: 'binary', minLength: 1 }).filter((text) => text.isWellFormed());
  const hostile = fc.constantFrom('"];', '\\', '\\"', 'a\n}', '"]:::x', '<script>', '#quot;', '\u2028', '-->', '`');
  const names = fc.uniqueArray(fc.oneof(anyName, hostile), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(names, fc.oneof(anyName, hostile), (all, title) => {
      const nodes = all.map((name, index) => node(name, all.slice(0, index), { type: title }));
      const workflow = { ...flow, name: title };
      const { labels, edges } = parseDot(workflowToDot(workflow, nodes));
      expect(labels).toHaveLength(all.length);
      expect(edges.length).toBeGreaterThanOrEqual((all.length * (all.length - 1)) / 2);
      const simple = all.filter((name) => !/[\\]/.test(oneLine(name)));
      for (const name of simple) expect(labels.map(firstLine)).toContain(oneLine(name));

      const lines = workflowToMermaid(workflow, nodes).trimEnd().split('\n');
      expect(JSON.parse(lines[1]!.slice('title: '.length))).toBe(`${oneLine(title)} (running)`);
      const drawn = lines.slice(4).filter((line) => !/^ {2}(n\d+ (-->|-\.->) n\d+|classDef [a-z]+ [^;"]+)$/.test(line));
      expect(drawn).toHaveLength(all.length);
      for (const line of drawn)
        expect(line).toMatch(/^ {2}n\d+\["(?:[\p{L}\p{N} .,:_()/=!?+-]|#\d+;|<br>)*"\]:::[a-z]+$/u);
    }),
  );
});
