// Where no public address is configured, samples name this machine's own. Readers came by another:
// that stands in its place, also where marks of colour or places to break divide it.
"use strict";

const localAddress = document.documentElement.dataset.local;

function put(nodes, at) {
  let left = localAddress.length;
  let start = 0;
  for (const node of nodes) {
    const { length } = node.data;
    const from = Math.max(at - start, 0);
    if (left > 0 && from < length) {
      const taken = Math.min(left, length - from);
      node.replaceData(from, taken, left === localAddress.length ? location.origin : "");
      left -= taken;
    }
    start += length;
  }
}

if (localAddress !== location.origin) {
  for (const code of document.querySelectorAll("main code, main samp")) {
    const nodes = [];
    const walker = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) nodes.push(walker.currentNode);
    const places = [];
    const text = code.textContent;
    for (let at = text.indexOf(localAddress); at >= 0; at = text.indexOf(localAddress, at + 1)) places.push(at);
    for (const at of places.reverse()) put(nodes, at);
  }
}
