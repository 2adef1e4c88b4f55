// Writes docs/guarantees.md from the promises, the tests that hold them, and where the suites run.

const INTRO = `# Guarantees

<!-- Written by \`node scripts/guarantees.mjs\` from scripts/guarantees/promises.json and from the tests. -->

This page says what Waybill promises, which tests hold it to each promise, and which fault each of these tests injects.
Run the tests of one guarantee, or change one of them and see what fails:

\`\`\`sh
npx vitest run -t 'guarantee 3'                        # tests that name this guarantee alone
npx vitest run -t 'guarantees? [0-9, and]*\\b3\\b'       # also those that name it beside others
npx vitest run --config vitest.slow.config.ts -t '..'  # the same for the slow ones
npm run mutants                                        # removes one guard at a time; a test must fail
npm run chaos -- --store postgres --minutes 480        # a night in which processes, networks and clocks fail at random
\`\`\`

[chaos.md](chaos.md) tells how to let processes, networks and clocks fail at random. The title of a test names its
guarantees, and the line \`// fault: ..\` above it says what the test injects; "none, the rule itself" means that nothing is
broken there. \`npm run lint\` fails when a promise has no test, when a fault is not told, or when this page is old.
Paths leave out \`packages\` and \`src\`; a link such as [testStore](#where-the-suites-run) names the suite that a test belongs to.
`;

const RULE_ITSELF = /^none\b/;

export function pageOf({ promises, tests, suites }) {
  const used = suites.filter(({ files }) => tests.some(({ file }) => files.has(file)));
  const sections = promises.map((promise) => {
    const own = tests.filter(({ numbers }) => numbers.includes(promise.number));
    return section(promise, own, used);
  });
  return [INTRO, ...sections, suitesSection(used)].join('\n');
}

function section({ number, promise, kept, files }, tests, suites) {
  const where = files.map((file) => `[\`${short(file)}\`](../${file})`).join(', ');
  const byFault = [...Map.groupBy(tests, ({ fault }) => fault)].sort(([a, x], [b, y]) => {
    // What is broken first; the faults that most tests inject before the others.
    return RULE_ITSELF.test(a) - RULE_ITSELF.test(b) || y.length - x.length || (a < b ? -1 : 1);
  });
  const groups = byFault.map(([fault, own]) => {
    const title = RULE_ITSELF.test(fault) ? 'no fault, the rule itself' : fault;
    return `- **${title}**\n${own.map((test) => `  - ${test.title} (${placeOf(test, suites)})`).join('\n')}`;
  });
  return `## Guarantee ${number}\n**${promise}.** ${kept}\n\nThe rule: ${where}. Its tests, by what they inject:\n\n${groups.join('\n')}\n`;
}

function placeOf({ file }, suites) {
  const own = suites.filter(({ files }) => files.has(file)).map(({ name }) => `[${name}](#where-the-suites-run)`);
  const slow = file.endsWith('.slow.test.ts') ? ['slow'] : [];
  return [`\`${short(file)}\``, ...own, ...slow].join(', ');
}

function suitesSection(suites) {
  const rows = suites.map(({ name, file, runs }) => {
    const places = runs.map(({ on, file }) => `${on} (\`${short(file)}\`)`).join('; ');
    return `| \`${name}\`, \`${short(file)}\` | ${places} |`;
  });
  const table = ['| suite | runs on |', '|---|---|', ...rows].join('\n');
  return `## Where the suites run\nThe tests of a suite run once for each of these.\n\n${table}\n`;
}

const short = (file) => file.replace(/^packages\//, '').replace('/src/', '/');
