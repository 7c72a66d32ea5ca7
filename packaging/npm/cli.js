#!/usr/bin/env node
// Runs the program for this machine's processor and ends as it ends.
'use strict';

const { spawn } = require('node:child_process');
const { join } = require('node:path');

const [name] = Object.keys(require('./package.json').bin);
const program = join(__dirname, 'bin', process.arch, name);
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });

// A terminal sends Ctrl-C to the program too, which then cleans up.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => child.kill('SIGTERM'));

child.on('error', (error) => {
  console.error(`${name}: no program for ${process.platform} on ${process.arch}: ${error.message}`);
  process.exitCode = 2;
});
child.on('exit', (code, signal) => {
  process.exitCode = signal ? 130 : code;
});
