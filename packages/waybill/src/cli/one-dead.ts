import { type Job, type Waybill, WaybillError } from '@waybill/core';
import { refusalOf } from './report.ts';

/** A job that lives is no dead letter; to say that there is none would mislead. */
export async function ofDeadLetter({ jobs }: Waybill, id: string, act: () => Promise<Job>): Promise<Job> {
  try {
    return await act();
  } catch (error) {
    if (refusalOf(error).code !== 'not_found') throw error;
    const { state } = await jobs.get(id);
    throw new WaybillError('conflict', `Job ${id} is ${state} and no dead letter.`, {
      hint: 'Dead letters are jobs that used up their attempts with on_exhaustion: dead_letter.',
    });
  }
}
