// Runs the tests of @waybill/agent with the real Claude Agent SDK, which it installs first; vitest gets what follows on the
// command line.
import { folder, installSdk, run } from './agent-sdk.mjs';

installSdk();
run('tsc', ['-p', folder]);
run('node', ['scripts/test.mjs', '--config', 'vitest.agent.config.ts', ...process.argv.slice(2)]);
