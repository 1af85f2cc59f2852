// Which part of the square [-1, 1]² is seen, and where on the screen its points are. The tools above and the
// legend below cover a strip each, which the square leaves free.

const ABOVE = 68, BELOW = 62, ROOM = 0.97;

export class Camera {
  constructor() {
    this.width = this.height = 1;
    this.reset();
  }

  reset() {
    this.x = this.y = 0;
    this.zoom = 1;
  }

  // Pixels per unit.
  unit() {
    return (ROOM / 2) * Math.min(this.width, Math.max(this.height - ABOVE - BELOW, 120)) * this.zoom;
  }

  // The middle of what is seen, in pixels from the top.
  middle() {
    return (this.height + ABOVE - BELOW) / 2;
  }

  toScreen(x, y) {
    const m = this.unit();
    return [this.width / 2 + (x - this.x) * m, this.middle() - (y - this.y) * m];
  }

  toPlace(px, py) {
    const m = this.unit();
    return [this.x + (px - this.width / 2) / m, this.y - (py - this.middle()) / m];
  }

  pan(dx, dy) {
    const m = this.unit();
    this.x = clampNumber(this.x - dx / m, -1.5, 1.5);
    this.y = clampNumber(this.y + dy / m, -1.5, 1.5);
  }

  // What is under the pointer stays there.
  zoomAt(px, py, factor) {
    const [x, y] = this.toPlace(px, py);
    this.zoom = clampNumber(this.zoom * factor, 0.6, 200);
    const [nx, ny] = this.toPlace(px, py);
    this.x += x - nx;
    this.y += y - ny;
  }
}

export function clampNumber(value, low, high) {
  return Math.min(Math.max(value, low), high);
}
