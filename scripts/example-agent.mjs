// Runs examples/agent.mjs with the Claude Agent SDK, which it installs first, and links to where the example finds it. In a
// project of your own the SDK is a package like any other.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { installed, installSdk, run, SDK } from './agent-sdk.mjs';

installSdk();
const link = path.resolve(import.meta.dirname, '../examples/node_modules', SDK);
mkdirSync(path.dirname(link), { recursive: true });
rmSync(link, { force: true });
symlinkSync(installed, link, 'junction');
run(process.execPath, [path.resolve(import.meta.dirname, '../examples/agent.mjs')]);
