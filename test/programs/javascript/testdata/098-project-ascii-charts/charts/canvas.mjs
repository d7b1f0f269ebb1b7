export class Canvas {
  constructor(width, height, fill = ' ') {
    this.rows = Array.from({ length: height }, () => Array(width).fill(fill));
  }
  set(x, y, c) {
    if (this.rows[y]?.[x] !== undefined) this.rows[y][x] = c;
    return this;
  }
  text(x, y, text) {
    [...text].forEach((c, i) => this.set(x + i, y, c));
    return this;
  }
  /** Bresenham's line. */
  line(x0, y0, x1, y1, c) {
    const [dx, dy] = [Math.abs(x1 - x0), -Math.abs(y1 - y0)];
    const [sx, sy] = [Math.sign(x1 - x0), Math.sign(y1 - y0)];
    for (let error = dx + dy; ; ) {
      this.set(x0, y0, c);
      if (x0 === x1 && y0 === y1) return this;
      const twice = 2 * error;
      if (twice >= dy) [error, x0] = [error + dy, x0 + sx];
      if (twice <= dx) [error, y0] = [error + dx, y0 + sy];
    }
  }
  toString() { return this.rows.map((row) => row.join('').trimEnd()).join('\n'); }
}
