import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const BIN = fileURLToPath(new URL('../../bin/waybill.js', import.meta.url));

export interface Ran {
  code: number;
  /** All that it has said. */
  text: string;
}

/** Runs the real command to its end. */
export const runCommand = (args: readonly string[], cwd: string, env: NodeJS.ProcessEnv = {}): Promise<Ran> =>
  new Promise((resolve) => {
    const options = { env: { ...process.env, NO_COLOR: '1', ...env }, timeout: 60_000, cwd };
    execFile(process.execPath, [BIN, ...args], options, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code ?? -1), text: stdout + stderr }),
    );
  });
