import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packAll } from './pack-all.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('..', import.meta.url));
let folder: string;
/** Every entry point that has declarations. */
let entries: string[];

/** A project outside of the repository with the packed packages and what they require, and no optional peer. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'waybill-declarations-'));
  const modules = join(folder, 'node_modules');
  const tarballs = await packAll(folder);
  const required = new Set(['@types/node']);
  entries = [];
  for (const [name, tarball] of Object.entries(tarballs)) {
    await mkdir(join(modules, name), { recursive: true });
    await run('tar', ['xzf', tarball, '-C', join(modules, name), '--strip-components', '1']);
    const manifest = JSON.parse(await readFile(join(modules, name, 'package.json'), 'utf8'));
    for (const one of Object.keys(manifest.dependencies ?? {})) if (!(one in tarballs)) required.add(one);
    const typed = Object.entries<{ types?: string }>(manifest.exports).filter(([, { types }]) => types);
    entries.push(...typed.map(([at]) => name + at.slice(1)));
  }
  for (const name of required) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(root, 'node_modules', name), join(modules, name), 'junction');
  }
}, 120_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

/** What the compiler says of a project that imports these entry points and checks the declarations of libraries. */
async function problemsOf(imported: readonly string[], types: readonly string[]): Promise<string[]> {
  const lines = imported.map((entry, index) => `export * as entry${index} from '${entry}';\n`);
  await writeFile(join(folder, 'main.ts'), lines.join(''));
  const compilerOptions = {
    ...{ module: 'nodenext', moduleResolution: 'nodenext', target: 'es2023', types },
    ...{ strict: true, skipLibCheck: false, noEmit: true },
  };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['main.ts'] }));
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', folder], { cwd: folder }).catch((error) => error);
  return stdout.split('\n').filter((line: string) => line !== '');
}

test('D1: all declarations compile without the optional peers', async () => {
  expect(entries).toEqual(
    expect.arrayContaining(['waybill', 'waybill/postgres', '@waybill/aws/sqs', '@waybill/server']),
  );
  expect(await problemsOf(entries, ['node'])).toEqual([]);
});

/** Whose declarations name streams and sockets of Node; those of the Claude Agent SDK do, too. */
const FOR_NODE = ['@waybill/server', 'waybill/lambda', '@waybill/agent', '@waybill/worker/contained'];

test('D1: all but those of the server, of its functions, of agents and of contained programs compile without the types of Node, too', async () => {
  const others = entries.filter((entry) => !FOR_NODE.some((name) => entry.startsWith(name)));
  expect(await problemsOf(others, [])).toEqual([]);
});

test('D1: what is wrong in a declaration is found', async () => {
  expect(await problemsOf(['waybill/none'], ['node'])).toEqual([expect.stringContaining('TS2307')]);
});
