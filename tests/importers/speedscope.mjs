// SPDX-License-Identifier: MIT
// Prints what speedscope imports from a text, as the JSON that its export writes.
//
// usage: node speedscope.mjs NODE_MODULES TEXT
//
// The released page runs in jsdom with a file as its #localProfilePath. Nothing is drawn: canvases accept all calls.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';

const [modules, text] = process.argv.slice(2).map(name => path.resolve(name));
const { JSDOM, VirtualConsole } = createRequire(path.join(modules, 'x.js'))('jsdom');
const release = path.join(modules, 'speedscope/dist/release');
const load = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'speedscope-')), 'load.js');
const said = [];
let exported = null;

// Every constant is 1, every function returns 1 or what its name asks for.
const answers = { getError: 0, getExtension: null, getContextAttributes: {}, isContextLost: false };
const webgl = new Proxy({}, {
	get: (_, name) => /^[A-Z0-9_]+$/.test(String(name)) ? 1 : () => name in answers ? answers[name] : 1,
});
const flat = new Proxy({}, { get: () => () => ({ width: 1 }), set: () => true });

function prepare(window) {
	const kept = new Map();
	const storage = { getItem: k => kept.get(k) ?? null, setItem: (k, v) => kept.set(k, v), removeItem: k => kept.delete(k) };

	Object.defineProperty(window, 'localStorage', { value: storage });
	window.HTMLCanvasElement.prototype.getContext = type => type === '2d' ? flat : webgl;
	window.TextDecoder = TextDecoder;
	window.matchMedia = () => ({ matches: false, addListener() {}, removeListener() {}, addEventListener() {} });
	window.URL.createObjectURL = blob => {
		exported = blob;
		return 'blob:exported';
	};
}

const log = new VirtualConsole();
for (const kind of ['log', 'warn', 'error', 'jsdomError']) {
	log.on(kind, (...words) => said.push(words.map(String).join(' ').slice(0, 200)));
}
process.on('uncaughtException', error => said.push(String(error).slice(0, 200)));
fs.writeFileSync(load, `speedscope.loadFileFromBase64("perf.txt", "${fs.readFileSync(text).toString('base64')}")`);
const page = new JSDOM(fs.readFileSync(path.join(release, 'index.html'), 'utf8'), {
	url: `file://${release}/index.html#localProfilePath=${load}`,
	runScripts: 'dangerously', resources: 'usable', pretendToBeVisual: true, virtualConsole: log, beforeParse: prepare,
});
for (let i = 0; i < 300 && exported === null; i++) { // at most 30 s
	await new Promise(resolve => setTimeout(resolve, 100));
	if (said.some(line => line.includes('Importing'))) {
		page.window.dispatchEvent(new page.window.KeyboardEvent('keydown', { key: 's', ctrlKey: true }));
	}
}
fs.rmSync(path.dirname(load), { recursive: true });
if (exported === null) {
	console.error(said.join('\n'));
	process.exit(1);
}
const reader = new page.window.FileReader();
const json = await new Promise(resolve => {
	reader.onload = () => resolve(reader.result);
	reader.readAsText(exported);
});
fs.writeFileSync(1, json);
process.exit(0);
