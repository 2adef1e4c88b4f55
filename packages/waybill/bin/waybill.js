#!/usr/bin/env node
// Plain old syntax up to the check: an outdated Node must get as far as saying what to install.
var wanted = [22, 13];
var found = process.versions.node.split('.').map(Number);

if (found[0] < wanted[0] || (found[0] === wanted[0] && found[1] < wanted[1])) {
  console.error(
    'waybill needs Node.js ' +
      wanted.join('.') +
      ' or newer, and this is ' +
      process.versions.node +
      '.\n' +
      'Install a current Node.js (https://nodejs.org), or add one to your project: npm install --save-dev node@24',
  );
  process.exit(1);
}

import('../dist/cli/main.js').then(
  (cli) => cli.main(process.argv.slice(2)),
  (error) => {
    console.error('waybill is not built: ' + error.message + '\nRun "npm run build" first.');
    process.exit(1);
  },
);
