import { beforeEach, describe, expect, it } from 'vitest';
import { Story } from './testing/story.ts';
import { workflows } from './workflows.ts';

let story: Story;
let parent: string;
let child: string;

const step = (id: string) =>
  story.tell({
    ...{ type: 'workflow.step_completed', tenant: '', subject: 'w', jobId: id },
    ...{ source: `job:${id}`, sequence: 1, at: story.pass(), data: {} },
  });
const end = (type: 'workflow.completed' | 'workflow.failed', sequence = 2) =>
  story.tell({ type, tenant: '', subject: 'w', source: 'server', sequence, at: story.pass(), data: {} });

function complete(id: string, parents: string[] = []): void {
  story.begin(id, 'worker-1#1', parents);
  story.end(id);
  step(id);
}

beforeEach(() => {
  story = new Story();
  const of = { type: 'chaos.node', workflowId: 'w' };
  parent = story.job({ ...of, node: 'a' });
  child = story.job({ ...of, node: 'b', state: 'pending' });
  const nodes = [
    { id: parent, node: 'a', dependsOn: [] },
    { id: child, node: 'b', dependsOn: ['a'] },
  ];
  story.workflows.push({ id: 'w', name: 'c', state: 'completed', nodes });
});

describe('guarantee 8: finds', () => {
  it('nothing where a child follows its parent', () => {
    complete(parent);
    story.change(child, { do: 'activate' });
    complete(child, [parent]);
    end('workflow.completed');
    expect(story.found(workflows)).toEqual([]);
  });

  it.each([true, false])('a child that is dispatched before its parent has completed, exactly: %s', (isOrderExact) => {
    story.isOrderExact = isOrderExact;
    story.change(child, { do: 'activate' });
    complete(parent);
    complete(child, [parent]);
    expect(story.found(workflows)).toEqual([
      `node b (job ${child}) was dispatched before its parent a (job ${parent}) had completed`,
    ]);
  });

  it('a child that is dispatched although its parent has failed', () => {
    story.change(parent, { do: 'cancel' });
    story.change(child, { do: 'activate' });
    complete(child, [parent]);
    story.workflows[0]!.state = 'failed';
    expect(story.found(workflows)).toEqual([
      `node b (job ${child}) was dispatched before its parent a (job ${parent}) had completed`,
    ]);
  });

  it('a node that is dispatched twice, or not at all', () => {
    complete(parent);
    story.change(child, { do: 'activate' });
    story.plant(child, 'job.pending', 0);
    story.plant(child, 'job.enqueued', 0);
    complete(child, [parent]);
    expect(story.found(workflows)).toEqual([`node b (job ${child}) was dispatched 2 times`]);
    story.log = story.log.filter(({ type, jobId }) => jobId !== child || type !== 'job.enqueued');
    expect(story.found(workflows)).toEqual([`node b (job ${child}) has started without being dispatched`]);
  });

  it('a node with the results of others', () => {
    complete(parent);
    story.change(child, { do: 'activate' });
    complete(child, ['nothing']);
    expect(story.found(workflows)).toEqual([`run 1 of node b (job ${child}) was given the results of nothing`]);
  });

  it('a workflow in the wrong state, and ends that are not told once', () => {
    complete(parent);
    story.change(child, { do: 'cancel' });
    expect(story.found(workflows)).toEqual(['workflow w is completed, and its nodes say that it is failed']);
    story.workflows[0]!.state = 'failed';
    end('workflow.failed', 2);
    end('workflow.failed', 3);
    expect(story.found(workflows)).toEqual(['workflow w is failed and has the ends workflow.failed,workflow.failed']);
  });

  it('a step that is not told once', () => {
    complete(parent);
    step(parent);
    story.change(child, { do: 'activate' });
    story.begin(child, 'worker-1#1', [parent]);
    story.end(child);
    expect(story.found(workflows)).toEqual([
      `node ${parent} was told 2 times as a completed step`,
      `node ${child} was told 0 times as a completed step`,
    ]);
  });
});
