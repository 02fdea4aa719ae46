// Numbers, times and the texts of agents, for people.

function count(number, thing) {
  return number + " " + thing + (number === 1 ? "" : "s");
}

function short(number) {
  if (number === null || number === undefined) return "–";
  if (number < 1000) return String(number);
  if (number < 999500) return fewDigits(number / 1000) + "k";
  return fewDigits(number / 1e6) + "M";
}

function fewDigits(number) {
  return number.toFixed(number < 9.95 ? 1 : 0).replace(/\.0$/, "");
}

function dollars(number) {
  if (typeof number !== "number") return "–";
  return "$" + number.toFixed(number < 0.1 ? 4 : 2);
}

function elapsed(ms) {
  if (typeof ms !== "number" || !(ms >= 0)) return "";
  if (ms < 1000) return Math.round(ms) + "ms";
  const s = Math.round(ms / 1000);
  if (ms < 10000) return (ms / 1000).toFixed(1) + "s";
  if (s < 60) return s + "s";
  const pad = (number) => String(number).padStart(2, "0");
  if (s < 3600) return Math.floor(s / 60) + "m" + pad(s % 60) + "s";
  return Math.floor(s / 3600) + "h" + pad(Math.floor(s / 60) % 60) + "m";
}

function clock(time) {
  return time ? new Date(time).toLocaleTimeString([], { hour12: false }) : "";
}

function ago(time) {
  const s = Math.max(0, (Date.now() - time) / 1000);
  if (s < 60) return "now";
  if (s < 3600) return Math.floor(s / 60) + "m ago";
  if (s < 86400) return Math.floor(s / 3600) + "h ago";
  return Math.floor(s / 86400) + "d ago";
}

function firstLine(text) {
  const end = text.indexOf("\n");
  return end < 0 ? text : text.slice(0, end);
}

// The first lines of a long text, and how many there are.
function cutLines(text, most) {
  let at = -1;
  for (let n = 0; n < most; n++) {
    at = text.indexOf("\n", at + 1);
    if (at < 0) return text;
  }
  return text.slice(0, at) + "\n[... truncated, " + text.split("\n").length + " total lines]";
}

// Characters that turn text around or cannot be seen are shown as what they are.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function visible(text) {
  const plain = text !== null && typeof text === "object" ? JSON.stringify(text) : String(text);
  return plain.replace(HIDDEN, (c) => "\\u{" + c.codePointAt(0).toString(16) + "}");
}

// Paragraphs, lists, headings and code of a message.
function prose(text) {
  const out = el("div.prose");
  const parts = visible(text).split(/^```(.*)$/m);
  for (let n = 0; n < parts.length; n++) {
    const isCode = n % 4 === 2;
    if (isCode) out.append(code(parts[n].replace(/^\n|\n$/g, "")));
    else if (n % 2 === 0) paragraphs(parts[n], out);
  }
  return out;
}

function paragraphs(text, out) {
  let list = null;
  for (const block of text.split(/\n/)) {
    const item = /^\s*(?:[-*]|\d+[.)])\s+(.*)/.exec(block);
    const head = /^#{1,6}\s+(.*)/.exec(block);
    if (item) {
      if (!list) out.append((list = el("ul")));
      list.append(add(el("li"), inline(item[1])));
      continue;
    }
    list = null;
    if (head) out.append(add(el("p.head"), inline(head[1])));
    else if (block.trim()) out.append(add(el("p"), inline(block)));
  }
}

// Code, strong words and addresses in a line.
function inline(text) {
  const parts = [];
  const pattern = /`([^`]+)`|\*\*([^*]+)\*\*|(https?:\/\/[^\s<>"'`)\]]+)/g;
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    parts.push(text.slice(at, found.index));
    if (found[1]) parts.push(el("code", null, found[1]));
    else if (found[2]) parts.push(el("strong", null, found[2]));
    else parts.push(link(found[3].replace(/[.,;:!?]+$/, "")));
    at = found.index + (found[3] ? found[3].replace(/[.,;:!?]+$/, "") : found[0]).length;
  }
  parts.push(text.slice(at));
  return parts;
}

const WORDS = new Set(("as async await bool break case catch class const continue def do done elif else " +
  "enum esac export extends fi fn for from function if impl import in interface let loop match mod " +
  "mut new None null pub return self Self static struct super switch then this throw trait true " +
  "false try type undefined use var void while with yield").split(" "));

// Source code with its comments, strings, numbers and words marked.
function code(text) {
  const pre = el("pre.code", { tabIndex: 0 });
  if (text.length > 20000) {
    pre.append(text);
    return pre;
  }
  const pattern = /(\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)|("(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const kind = found[1] ? "comment" : found[2] ? "string" : found[3] ? "number"
      : WORDS.has(found[4]) ? "word" : null;
    if (!kind) continue;
    pre.append(text.slice(at, found.index), el("span." + kind, null, found[0]));
    at = found.index + found[0].length;
  }
  pre.append(text.slice(at));
  return pre;
}
