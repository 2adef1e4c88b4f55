import path from 'node:path';

/** Import cycles between the files of one package. Tests and type-only imports count: they tangle a reader too. */
export function checkCycles(sources) {
  const files = new Set(sources.map(({ file }) => file));
  const graph = new Map(
    sources.map(({ file, imports }) => {
      const targets = imports.filter((one) => one.startsWith('.')).map((one) => path.join(path.dirname(file), one));
      return [file, targets.filter((target) => files.has(target))];
    }),
  );
  return cyclesIn(graph).map((cycle) => `import cycle: ${[...cycle, cycle[0]].join(' -> ')}`);
}

/** For each strongly connected component the shortest cycles through its files, the shortest of them first. */
function cyclesIn(graph) {
  const reached = new Map([...graph.keys()].map((file) => [file, new Set(pathsFrom(graph, file).keys())]));
  const done = new Set();
  return [...graph.keys()].sort().flatMap((file) => {
    if (done.has(file) || !reached.get(file).has(file)) return [];
    const component = [...reached.get(file)].filter((other) => reached.get(other).has(file));
    for (const other of component) done.add(other);
    const cycles = component.map((other) => fromItsFirst(pathsFrom(graph, other).get(other)));
    const each = new Map(cycles.map((cycle) => [cycle.join('\n'), cycle]));
    return [...each.values()].sort((a, b) => a.length - b.length || (a[0] < b[0] ? -1 : 1));
  });
}

/** A shortest way from a file to each one that it imports, itself or through others, without the last step. */
function pathsFrom(graph, start) {
  const paths = new Map();
  let ends = [[start]];
  while (ends.length > 0) {
    const next = [];
    for (const way of ends) {
      for (const target of graph.get(way.at(-1))) {
        if (paths.has(target)) continue;
        paths.set(target, way);
        next.push([...way, target]);
      }
    }
    ends = next;
  }
  return paths;
}

/** Cycles that differ only in where they begin are one. */
function fromItsFirst(cycle) {
  const at = cycle.indexOf([...cycle].sort()[0]);
  return [...cycle.slice(at), ...cycle.slice(0, at)];
}
