// Changes of files, shown as changes.

// The lines of a call that edits: `[sign, text]`, or null if it edits nothing.
function changesOf(call) {
  const input = call.input;
  if (Array.isArray(call.patch) && call.patch.length) {
    const lines = [];
    for (const hunk of call.patch) {
      lines.push(["@", "line " + hunk.newStart]);
      for (const line of hunk.lines || []) lines.push([line[0] || " ", line.slice(1)]);
    }
    return lines;
  }
  if (call.name === "Write" && typeof input.content === "string") {
    return input.content.replace(/\n$/, "").split("\n").map((line) => ["+", line]);
  }
  if (call.name === "MultiEdit" && Array.isArray(input.edits)) {
    return input.edits.flatMap((edit, n) => [["@", "change " + (n + 1)],
      ...compare(String(edit.old_string || ""), String(edit.new_string || ""))]);
  }
  if (typeof input.old_string === "string" && typeof input.new_string === "string") {
    return compare(input.old_string, input.new_string);
  }
  return null;
}

// The shortest way from one text to another by whole lines; of long texts, what is
// equal at both ends and the rest as replaced.
function compare(before, after) {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < a.length - head && tail < b.length - head
    && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const out = a.slice(0, head).map((line) => [" ", line]);
  out.push(...middle(a.slice(head, a.length - tail), b.slice(head, b.length - tail)));
  out.push(...a.slice(a.length - tail).map((line) => [" ", line]));
  return out;
}

function middle(a, b) {
  if (a.length * b.length > 250000) {
    return a.map((line) => ["-", line]).concat(b.map((line) => ["+", line]));
  }
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      common[i * width + j] = a[i] === b[j] ? common[(i + 1) * width + j + 1] + 1
        : Math.max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push([" ", a[i]]);
      i++;
      j++;
    } else if (j >= b.length || (i < a.length && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      out.push(["-", a[i++]]);
    } else {
      out.push(["+", b[j++]]);
    }
  }
  return out;
}

// The lines as a block; the first of many, with a button for all.
function diffBlock(lines, isOpen, open) {
  const most = isOpen ? lines.length : 12;
  const pre = el("div.diff", { tabIndex: 0, role: "group", "aria-label": "Changes" });
  for (const [sign, text] of lines.slice(0, most)) {
    const kind = sign === "+" ? "added" : sign === "-" ? "removed" : sign === "@" ? "hunk" : "same";
    pre.append(el("div." + kind, null, el("span.sign", null, sign === "@" ? "" : sign), visible(text) || " "));
  }
  if (lines.length > most) {
    return [pre, el("button.more", { onclick: open }, "Show all " + lines.length + " lines")];
  }
  return [pre];
}

function added(lines) {
  const number = (sign) => lines.filter((line) => line[0] === sign).length;
  return [number("+"), number("-")];
}
