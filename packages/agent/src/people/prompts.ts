import type { Answer } from '@waybill/worker';
import { sanitizePromptInput } from '../security/prompt-input.ts';
import type { Pending } from './pending.ts';

/** What the agent is told when it goes on. What a person has written is data, as every value of a prompt is. */
export function answeredPrompt({ kind, tool, input }: Pending, answer: Answer, isApproved: boolean): string {
  if (kind === 'question') {
    if (answer.status === 'expired')
      return 'Nobody has answered your question in time. Decide without an answer, or end if you cannot.';
    const said = [answer.choice, answer.text].filter((part) => part !== null).map(shown);
    return `The answer to your question: ${said.join('. ')}\nContinue until the task is done.`;
  }
  const call = `${tool} with the input ${JSON.stringify(input)}`;
  if (isApproved)
    return `A person has approved your call of ${call}. Make exactly this call once more now, then continue until the task is done.`;
  const why = answer.status === 'expired' ? 'Nobody has approved' : 'A person has denied';
  const reason = answer.status === 'answered' && answer.text !== null ? ` They said: ${shown(answer.text)}` : '';
  return `${why} your call of ${call}.${reason} Do not make it. Find another way to do the task, or end if there is none.`;
}

const shown = (text: string | null): string => sanitizePromptInput(text ?? '');
