// Runs an agent in a process of its own, which a test kills. Prints what the run says, a line of JSON each.
import { runAgent } from '../../src/run-agent.ts';
import { folderFiles } from '../../src/testing/folder-files.ts';
import { RecordedContext } from '../../src/testing/recorded-context.ts';
import { OUTPUT } from './output.ts';

const [files, env, options = '{}'] = process.argv.slice(2);
const context = new RecordedContext({ files: folderFiles(files!) });
const print = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const { emit, checkpoint } = context;
context.emit = async (type, data) => {
  await emit(type, data);
  print({ type });
};
context.checkpoint = (state) => {
  checkpoint(state);
  print({ type: 'checkpoint', state });
};

const given = JSON.parse(options);
const definition = { name: 'agent.test', prompt: 'Count the files.', tools: ['Bash'], output: OUTPUT, ...given };
await runAgent(definition, {}, context, { env: JSON.parse(env!), module: import.meta.url });
print({ type: 'done' });
