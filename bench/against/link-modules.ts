import { existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync } from 'node:fs';
import path from 'node:path';

interface Linking {
  root: string;
  tree: string;
  /** A folder of both. */
  inside: string;
}

/**
 * Fills a node_modules folder with links to this project's dependencies. Links to the project's own packages lead into
 * the tree instead, so one link to the whole folder would not do.
 */
export function linkModules({ root, tree, inside }: Linking): void {
  mkdirSync(path.join(tree, inside), { recursive: true });
  for (const entry of readdirSync(path.join(root, inside), { withFileTypes: true })) {
    const here = path.join(inside, entry.name);
    if (entry.isSymbolicLink()) {
      const own = path.relative(root, realpathSync(path.join(root, here)));
      symlinkSync(path.resolve(tree, own), path.join(tree, here), 'junction');
      const nested = path.join(own, 'node_modules');
      if (existsSync(path.join(root, nested))) linkModules({ root, tree, inside: nested });
    } else if (entry.name.startsWith('@')) linkModules({ root, tree, inside: here });
    else if (entry.isDirectory() && (entry.name === '.bin' || !entry.name.startsWith('.')))
      symlinkSync(path.join(root, here), path.join(tree, here), 'junction');
  }
}
