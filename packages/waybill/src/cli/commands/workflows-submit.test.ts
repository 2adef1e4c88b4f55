import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { folder, Terminal } from '../testing/terminal.ts';
import { widthOf } from '../text-width.ts';

const PLAN = `name: release
nodes:
  - { id: build, type: ci.build, args: [main] }
  - id: check
    depends_on: [build]
    type: ci.check
    args: []
    when: { parent: build, path: ok, equals: true }
  - { id: publish, depends_on: [build], type: ci.publish, args: [], retry: { max_attempts: 1 } }
`;
const FAULTY = `name: release
nodes:
  - { id: build, type: Build, args: [main] }
  - id: check
    dependsOn: [build]
    type: ci.check
    options:
      queue: NO
  - { id: publish, depends_on: [biuld], type: ci.publish, args: [] }
`;
const DONE = { kind: 'completed', result: { ok: false } } as const;

let terminal: Terminal;
beforeEach(() => {
  terminal = new Terminal();
});

function file(name: string, text: string): string {
  const made = path.join(folder(), name);
  writeFileSync(made, text);
  return made;
}

test('a file of YAML or JSON, or stdin, becomes a workflow', async () => {
  expect(await terminal.text('workflows', 'submit', file('plan.yaml', PLAN))).toMatchInlineSnapshot(`
    "
    ID-1................................ running, 3 nodes
    "
  `);
  const json = JSON.stringify({ type: 'chain', steps: [{ type: 'a.b', args: [] }] });
  expect(await terminal.json('workflows', 'submit', file('plan.json', json))).toMatchObject({
    workflow: { type: 'chain', state: 'running' },
  });
  terminal.stdin = PLAN;
  expect((await terminal.run('workflows', 'submit', '-')).code).toBe(0);
  expect(await terminal.json('workflows', 'list')).toMatchObject({ workflows: [{}, {}, {}] });
});

test('every fault is told with its line, and nothing is stored', async () => {
  const plan = file('plan.yaml', FAULTY);
  expect(await terminal.text('workflows', 'submit', plan)).toMatchInlineSnapshot(`
    "
    exit 2
    waybill: plan.yaml has 5 faults. Nothing was stored.
      line 3: nodes[0].type: 'type' must be lower-case words joined by dots, like email.send.
      line 4: nodes[1].args: 'args' is required and must be an array.
      line 5: nodes[1].dependsOn: 'dependsOn' is not known here. Did you mean 'depends_on'?
      line 8: nodes[1].options.queue: 'options.queue' must be 1 to 128 characters of a-z, 0-9, '.' and '-', beginning with a letter or digit.
      line 9: nodes[2].depends_on[0]: 'biuld' is no node here. Did you mean 'build'?
      docs/workflows.md describes workflows.
    "
  `);
  const { code, raw } = await terminal.run('workflows', 'submit', plan, '--json');
  expect([code, JSON.parse(raw).problems[0]]).toEqual([
    2,
    { line: 3, field: 'nodes[0].type', message: expect.stringContaining('lower-case') },
  ]);
  // No store was opened, so none was made.
  expect((await terminal.run('workflows', 'list')).code).toBe(7);
});

test('faults of a JSON file have lines too', async () => {
  const plan = file('plan.json', '{\n  "nodes": [\n    { "id": "a", "type": "A", "args": [] }\n  ]\n}');
  expect((await terminal.run('workflows', 'submit', plan)).err).toContain('line 3: nodes[0].type');
});

test('a file that is no document, or is not there, is refused', async () => {
  const refusal = async (name: string) => (await terminal.run('workflows', 'submit', name)).err.split('\n')[0];
  expect(await refusal(file('plan.yaml', 'a: [1'))).toContain('plan.yaml is not valid YAML at line 1');
  expect(await refusal(file('plan.json', '{"a":'))).toContain('plan.json is not valid JSON');
  expect(await refusal(file('plan.txt', 'a: 1'))).toContain('unknown ending');
  expect(await refusal('missing.yaml')).toContain('Could not read missing.yaml: ENOENT');
});

/** Whenever the command waits, one more job is settled. */
function workMeanwhile(outcomes: Parameters<Terminal['settle']>[0][]): void {
  terminal.onSleep = async (_ms, signal) => {
    const next = outcomes.shift();
    if (next !== undefined && !signal.aborted) await terminal.settle(next, { ms: 1_000 });
  };
}

/** How often the command looks depends on when the news of a change reach it. */
const timeless = (text: string): string =>
  text.replaceAll(/^\S+Z /gm, 'TIME ').replaceAll(/\b\d+(?:\.\d+)?s\b/g, 'SOME s');

test('--follow tells each change of a node, and exits by how the workflow ended', async () => {
  workMeanwhile([DONE, { kind: 'failed', error: { code: 'npm', message: 'No token.' } }]);
  const text = await terminal.text('workflows', 'submit', file('plan.yaml', PLAN), '--follow');
  expect(timeless(text)).toMatchInlineSnapshot(`
    "
    exit 1
    TIME build available
    TIME check pending
    TIME publish pending
    TIME build completed SOME s
    TIME check skipped
    TIME publish available
    TIME publish discarded SOME s No token.
    release ID-1................................
    dag failed, 1 of 3 completed, 1 failed, 1 skipped, SOME s
    └─ build       ci.build    completed  SOME s
       ├─ publish  ci.publish  discarded  SOME s  No token.
       └─ check    ci.check    skipped    if build.ok = true
    waybill: workflow ID-1................................ was created.
    "
  `);
});

test('--follow --json is a line per change, and the whole at the end', async () => {
  workMeanwhile([DONE, DONE]);
  const { code, raw } = await terminal.run('workflows', 'submit', file('plan.yaml', PLAN), '--follow', '--json');
  const lines = raw
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect([code, lines.at(-1)]).toMatchObject([0, { workflow: { state: 'completed' }, jobs: [{}, {}, {}] }]);
  expect(lines.slice(0, -1).map(({ job }) => `${job.node} ${job.outcome ?? job.state}`)).toEqual(
    expect.arrayContaining([
      'build available',
      'check pending',
      'build completed',
      'check skipped',
      'publish completed',
    ]),
  );
});

test('show --follow draws on a screen of its own at a terminal, and leaves the last drawing', async () => {
  const { raw: made } = await terminal.run('workflows', 'submit', file('plan.yaml', PLAN), '--json');
  Object.assign(terminal, { isTty: true, columns: 80, rows: 24 });
  workMeanwhile([DONE, DONE]);
  const { code, raw } = await terminal.run('workflows', 'show', JSON.parse(made).workflow.id, '--follow');
  expect(code).toBe(0);
  const [screens, left = ''] = raw.split('\u001b[?25h\u001b[?1049l');
  expect(screens).toContain('Ctrl-C ends');
  expect(left).toContain('completed');
  expect(left.split('\n').filter((line) => widthOf(line) > 80)).toEqual([]);
});

test('Ctrl-C ends only the following', async () => {
  terminal.onSleep = () => terminal.interruption.abort();
  const { code, err } = await terminal.run('workflows', 'submit', file('plan.yaml', PLAN), '--follow');
  expect([code, err]).toEqual([130, expect.stringContaining('it goes on')]);
  expect(await terminal.json('workflows', 'list')).toMatchObject({ workflows: [{ state: 'running' }] });
});

test('show --format writes the graph for other programs', async () => {
  const { raw } = await terminal.run('workflows', 'submit', file('plan.yaml', PLAN), '--json');
  const { id } = JSON.parse(raw).workflow;
  expect(await terminal.text('workflows', 'show', id, '--format', 'mermaid')).toMatchInlineSnapshot(`
    "
    ---
    title: "release (running)"
    ---
    flowchart LR
      n0["build<br>ci.build<br>available"]:::available
      n1["check<br>ci.check<br>pending<br>if build.ok = true"]:::pending
      n2["publish<br>ci.publish<br>pending"]:::pending
      n0 --> n1
      n0 --> n2
      classDef available fill:#ffffff,stroke:#555,color:#000
      classDef pending fill:#ffffff,stroke:#555,color:#000
    "
  `);
  expect(await terminal.text('workflows', 'show', id, '--format', 'dot')).toContain('digraph "release (running)" {');
  expect((await terminal.run('workflows', 'show', id, '--format', 'svg')).err).toContain('mermaid or dot');
  expect((await terminal.run('workflows', 'show', id, '--format', 'dot', '--follow')).code).toBe(2);
});
