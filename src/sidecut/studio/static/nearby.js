// Which point is under the pointer, and which points are inside a lasso.

const CELLS = 128;

export class Nearby {
  constructor(places) {
    this.places = places;
    this.cells = new Map();
    for (let i = 0; i < places.length / 2; i += 1) {
      const key = this.cellOf(places[2 * i]) * CELLS + this.cellOf(places[2 * i + 1]);
      if (!this.cells.has(key)) this.cells.set(key, []);
      this.cells.get(key).push(i);
    }
  }

  cellOf(value) {
    return Math.min(Math.max(Math.floor(((value + 1) / 2) * CELLS), 0), CELLS - 1);
  }

  // The nearest point within a radius, or -1.
  find(x, y, radius) {
    let best = -1, least = radius * radius;
    for (let cx = this.cellOf(x - radius); cx <= this.cellOf(x + radius); cx += 1) {
      for (let cy = this.cellOf(y - radius); cy <= this.cellOf(y + radius); cy += 1) {
        for (const i of this.cells.get(cx * CELLS + cy) ?? []) {
          const dx = this.places[2 * i] - x, dy = this.places[2 * i + 1] - y, d = dx * dx + dy * dy;
          if (d <= least) [best, least] = [i, d];
        }
      }
    }
    return best;
  }

  // The points inside a polygon of places: a ray to the right crosses its sides an odd number of times.
  inside(polygon) {
    const xs = polygon.map((p) => p[0]), ys = polygon.map((p) => p[1]);
    const box = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const found = [];
    for (let i = 0; i < this.places.length / 2; i += 1) {
      const x = this.places[2 * i], y = this.places[2 * i + 1];
      if (x < box[0] || x > box[1] || y < box[2] || y > box[3]) continue;
      if (isInside(x, y, xs, ys)) found.push(i);
    }
    return found;
  }
}

function isInside(x, y, xs, ys) {
  let odd = false;
  for (let a = 0, b = xs.length - 1; a < xs.length; b = a, a += 1) {
    if (ys[a] > y !== ys[b] > y && x < ((xs[b] - xs[a]) * (y - ys[a])) / (ys[b] - ys[a]) + xs[a]) odd = !odd;
  }
  return odd;
}
