import { firstOfPages, runnableExamples } from './testing/doc-examples.ts';
import { docsFolder, testDocExamples } from './testing/test-doc-examples.ts';

const first = new Set(firstOfPages().map(({ name }) => name));

testDocExamples(
  runnableExamples().filter(({ name }) => !first.has(name)),
  docsFolder(),
);
