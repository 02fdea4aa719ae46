// The log: only the rows in sight are in the page, however many there are.

const GUESS = 30;
const BEYOND = 600;

// Sums of heights, each changed and found in a few steps.
class Heights {
  constructor() {
    this.sums = [0];
    this.all = [];
  }

  get total() {
    return this.before(this.all.length);
  }

  push(height) {
    this.all.push(height);
    const n = this.all.length;
    let sum = height;
    for (let step = 1; step < (n & -n); step <<= 1) sum += this.sums[n - step];
    this.sums.push(sum);
  }

  set(n, height) {
    const more = height - this.all[n];
    if (!more) return 0;
    this.all[n] = height;
    for (let at = n + 1; at < this.sums.length; at += at & -at) this.sums[at] += more;
    return more;
  }

  before(n) {
    let sum = 0;
    for (let at = n; at > 0; at -= at & -at) sum += this.sums[at];
    return sum;
  }

  // The entry at a height.
  at(height) {
    let at = 0;
    let step = 1;
    while (step * 2 < this.sums.length) step *= 2;
    for (; step > 0; step >>= 1) {
      if (at + step < this.sums.length && this.sums[at + step] <= height) {
        at += step;
        height -= this.sums[at];
      }
    }
    return Math.min(at, this.all.length - 1);
  }
}

class Log {
  constructor(scroller, actions) {
    this.scroller = scroller;
    this.canvas = scroller.firstElementChild;
    this.actions = actions;
    this.open = new Set();
    this.showsAll = false;
    this.follows = true;
    this.touchedAt = -Infinity;
    this.isHeld = false;
    this.reset();
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    for (const name of ["wheel", "touchmove", "keydown", "pointerdown"]) {
      scroller.addEventListener(name, () => { this.touchedAt = performance.now(); }, { passive: true });
    }
    scroller.addEventListener("pointerdown", () => { this.isHeld = true; });
    for (const name of ["pointerup", "pointercancel"]) {
      window.addEventListener(name, () => { this.isHeld = false; });
    }
    new ResizeObserver(() => this.resized()).observe(scroller);
  }

  reset() {
    this.rows = [];
    this.entries = [];
    this.places = [];
    this.heights = new Heights();
    this.nodes = new Map();
    this.unseen = 0;
    this.marked = null;
    this.canvas.replaceChildren();
    this.canvas.style.height = "0px";
  }

  // Takes over the rows that are new.
  append(rows) {
    let lastAgent = this.entries.length ? this.entries[this.entries.length - 1].row.agent : null;
    for (let n = this.rows.length; n < rows.length; n++) {
      const row = rows[n];
      this.rows.push(row);
      this.places.push(-1);
      if (row.low && !this.showsAll) continue;
      if (row.agent !== lastAgent) {
        this.entries.push({ row, isBanner: true });
        this.heights.push(GUESS);
        lastAgent = row.agent;
      }
      this.places[n] = this.entries.length;
      this.entries.push({ row, isBanner: false });
      this.heights.push(GUESS);
      if (!this.follows) this.unseen++;
    }
    this.schedule();
  }

  // Builds everything again, with other rows shown.
  rebuild(showsAll) {
    const rows = this.rows;
    const follows = this.follows;
    this.showsAll = showsAll;
    this.reset();
    this.follows = true;
    this.append(rows);
    this.follows = follows;
    this.schedule();
  }

  changed(index) {
    const place = this.places[index];
    const node = place >= 0 && this.nodes.get(place);
    if (!node) return;
    this.nodes.delete(place);
    node.remove();
    this.schedule();
  }

  schedule() {
    if (this.isScheduled) return;
    this.isScheduled = true;
    const draw = () => requestAnimationFrame(() => {
      this.isScheduled = false;
      this.draw();
    });
    if (this.isBusy) setTimeout(draw, 300);
    else draw();
  }

  draw() {
    const { scroller, heights } = this;
    for (let round = 0; round < 3; round++) {
      this.canvas.style.height = heights.total + "px";
      if (this.follows) scroller.scrollTop = heights.total;
      const top = scroller.scrollTop;
      const first = heights.at(Math.max(0, top - BEYOND));
      const last = heights.at(top + scroller.clientHeight + BEYOND);
      if (this.entries.length === 0) return this.drawn();
      this.place(first, last);
      if (!this.measure(top)) break;
    }
    this.drawn();
  }

  // Puts the entries from `first` to `last` into the page, and takes out the others.
  place(first, last) {
    for (const [n, node] of this.nodes) {
      if (n < first || n > last) {
        if (node.contains(document.activeElement)) continue;
        node.remove();
        this.nodes.delete(n);
      }
    }
    let after = null;
    for (let n = last; n >= first; n--) {
      let node = this.nodes.get(n);
      if (!node) {
        const { row, isBanner } = this.entries[n];
        node = isBanner ? banner(row.agent) : card(row, this);
        node.classList.add("c" + row.agent.colour);
        if (row.agent.depth) node.classList.add("deep");
        if (row === this.marked && !isBanner) node.classList.add("marked");
        this.nodes.set(n, node);
        this.canvas.insertBefore(node, after);
      }
      after = node;
    }
  }

  // Measures what is in the page; says whether something was of another height.
  measure(top) {
    const found = [];
    for (const [n, node] of this.nodes) found.push([n, node.offsetHeight]);
    let above = 0;
    let isOther = false;
    for (const [n, height] of found) {
      const isAbove = this.heights.before(n) < top;
      const more = this.heights.set(n, height);
      if (more) isOther = true;
      if (more && isAbove) above += more;
    }
    for (const [n, node] of this.nodes) node.style.top = this.heights.before(n) + "px";
    if (above && !this.follows) this.scroller.scrollTop = top + above;
    return isOther;
  }

  drawn() {
    this.actions.state(this);
  }

  scrolled() {
    const { scroller } = this;
    const isAtEnd = scroller.scrollTop + scroller.clientHeight >= this.heights.total - 30;
    // Rows that turn out lower than they were thought also move the view.
    const isByHand = this.isHeld || performance.now() - this.touchedAt < 500;
    if (isByHand && isAtEnd) this.follow();
    else if (isByHand && scroller.scrollTop < this.lastTop - 2) this.leave();
    this.lastTop = scroller.scrollTop;
    this.schedule();
  }

  resized() {
    for (const node of this.nodes.values()) node.remove();
    this.nodes.clear();
    this.schedule();
  }

  leave() {
    if (!this.follows || this.scroller.scrollHeight <= this.scroller.clientHeight) return;
    this.follows = false;
    this.drawn();
  }

  follow() {
    this.follows = true;
    this.unseen = 0;
    this.schedule();
  }

  // Brings a row into sight and marks it.
  show(row) {
    const place = this.places[row.index];
    if (place < 0) return;
    this.follows = false;
    const before = this.marked;
    this.marked = row;
    for (const it of [before, row]) if (it) this.changed(it.index);
    for (let round = 0; round < 3; round++) {
      this.scroller.scrollTop = Math.max(0, this.heights.before(place) - 80);
      this.draw();
    }
    this.lastTop = this.scroller.scrollTop;
  }

  // The next or the last row that fits, from the one that is marked or in sight; with
  // `wraps` from the other end on, too.
  jump(fits, step, wraps) {
    const all = this.entries.length;
    const place = this.marked ? this.places[this.marked.index] : this.heights.at(this.scroller.scrollTop + 80);
    const most = wraps ? all : step > 0 ? all - 1 - place : place;
    for (let so = 1, n = place + step; so <= most; so++, n += step) {
      const entry = this.entries[(n + all) % all];
      if (fits(entry)) {
        this.show(entry.row);
        return true;
      }
    }
    return false;
  }

  isOpen(key) {
    return this.open.has(key);
  }

  toggle(row, key) {
    if (!this.open.delete(key)) this.open.add(key);
    this.follows = false;
    this.changed(row.index);
  }

  address(row) {
    return this.actions.address(row);
  }

  answers(ask) {
    return this.actions.answers(ask);
  }
}
