// Elements. Text is always set as text: nothing here, or anywhere in the page,
// makes elements of a string.

// An element: its tag and classes as `tag.class.class`, its properties, its
// children. A child that is a string becomes text.
function el(name, props, ...children) {
  const [tag, ...classes] = name.split(".");
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(" ");
  for (const [key, value] of Object.entries(props || {})) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (key.includes("-") || key === "role" || key === "for") node.setAttribute(key, value);
    else node[key] = value;
  }
  add(node, children);
  return node;
}

function add(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child);
  }
  return node;
}

function fill(node, ...children) {
  node.replaceChildren();
  return add(node, children);
}

function byId(id) {
  return document.getElementById(id);
}

// An address as a link, if it is one of the web's.
function link(address) {
  const props = { href: address, target: "_blank", rel: "noopener noreferrer" };
  return el("a", props, address);
}

// What the browser keeps for this page; nothing where it keeps nothing.
const kept = {
  get(key) {
    try { return localStorage.getItem("cr-serve." + key); } catch { return null; }
  },
  set(key, value) {
    try { localStorage.setItem("cr-serve." + key, value); } catch { /* private window */ }
  },
};
