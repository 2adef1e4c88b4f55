import { type Options, query, type SDKMessage } from '@anthropic-ai/claude-agent-sdk';
import type { FakeModel } from '../../src/testing/index.ts';
import { folder } from './agent.ts';

const QUIET = { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1', CLAUDE_CODE_MAX_RETRIES: '2' };

/** Asks the model by the SDK alone, without anything of ours. */
export async function ask(model: FakeModel, options: Options): Promise<SDKMessage[]> {
  const home = await folder();
  const env = { PATH: process.env['PATH'], HOME: home, CLAUDE_CONFIG_DIR: home, TMPDIR: home, ...model.env, ...QUIET };
  const messages: SDKMessage[] = [];
  const settings: Options = { settingSources: [], permissionMode: 'acceptEdits', cwd: home, env };
  try {
    for await (const message of query({ prompt: 'Count the files.', options: { ...settings, ...options } }))
      messages.push(message);
  } catch {
    // The last result says it too.
  }
  return messages;
}
