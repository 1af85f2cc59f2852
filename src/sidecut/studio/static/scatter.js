// Points by WebGL: one draw call, places on the card once, colours again with every answer.

const VERTEX = `
attribute vec2 place;
attribute vec4 look;
uniform vec2 scale, offset;
uniform float size, pulse, dim;
varying vec3 color;
varying float shape, alpha, pixels;
void main() {
  float mode = floor(look.w * 255.0 / 16.0 + 0.01);
  shape = floor(look.w * 255.0 - 16.0 * mode + 0.5);
  color = look.rgb;
  alpha = mode < 0.5 ? dim : 1.0;
  gl_Position = vec4(place * scale + offset, mode * -0.1, 1.0);
  gl_PointSize = size * (mode > 1.5 ? 1.0 + pulse : 1.0);
  pixels = gl_PointSize;
}`;

const FRAGMENT = `
precision mediump float;
varying vec3 color;
varying float shape, alpha, pixels;
void main() {
  vec2 p = gl_PointCoord * 2.0 - 1.0;
  vec2 a = abs(p);
  float edge = length(p) - 0.95;
  if (shape > 4.5) edge = abs(length(p) - 0.66) - 0.29;
  else if (shape > 3.5) edge = min(max(a.x - 0.32, a.y - 0.95), max(a.y - 0.32, a.x - 0.95));
  else if (shape > 2.5) edge = a.x + a.y - 1.0;
  else if (shape > 1.5) edge = max(a.x * 0.9 + p.y * -0.48, p.y) - 0.48;
  else if (shape > 0.5) edge = max(a.x, a.y) - 0.82;
  float cover = alpha * clamp(0.5 - 0.5 * edge * pixels, 0.0, 1.0);
  if (cover < 0.02) discard;
  gl_FragColor = vec4(color * cover, cover);
}`;

// What a point is at the moment.
export const QUIET = 0, PLAIN = 1, MARKED = 2;

export class Scatter {
  constructor(canvas, places) {
    this.canvas = canvas;
    this.n = places.length / 2;
    const gl = canvas.getContext("webgl", { antialias: false, depth: true, preserveDrawingBuffer: false });
    if (!gl) throw new Error("This browser has no WebGL, which the map needs.");
    this.gl = gl;
    this.program = linkProgram(gl);
    this.uniforms = {};
    for (const name of ["scale", "offset", "size", "pulse", "dim"]) {
      this.uniforms[name] = gl.getUniformLocation(this.program, name);
    }
    this.looks = new Uint8Array(4 * this.n);
    this.bindBuffer("place", places, 2, gl.FLOAT, false);
    this.lookBuffer = this.bindBuffer("look", this.looks, 4, gl.UNSIGNED_BYTE, true);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LEQUAL);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  bindBuffer(name, values, width, kind, isShare) {
    const gl = this.gl, buffer = gl.createBuffer(), at = gl.getAttribLocation(this.program, name);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
    gl.enableVertexAttribArray(at);
    gl.vertexAttribPointer(at, width, kind, isShare, 0, 0);
    return buffer;
  }

  // rgb: three bytes per point; shapes and modes: one byte per point.
  paint(rgb, shapes, modes) {
    for (let i = 0; i < this.n; i += 1) {
      this.looks[4 * i] = rgb[3 * i];
      this.looks[4 * i + 1] = rgb[3 * i + 1];
      this.looks[4 * i + 2] = rgb[3 * i + 2];
      this.looks[4 * i + 3] = 16 * modes[i] + shapes[i];
    }
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.lookBuffer);
    gl.bufferSubData(gl.ARRAY_BUFFER, 0, this.looks);
  }

  draw(camera, size, pulse, dim) {
    const gl = this.gl, { width, height } = this.canvas, m = camera.unit();
    gl.viewport(0, 0, width, height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.useProgram(this.program);
    const sx = (2 * m) / camera.width, sy = (2 * m) / camera.height;
    gl.uniform2f(this.uniforms.scale, sx, sy);
    const down = 1 - (2 * camera.middle()) / camera.height;
    gl.uniform2f(this.uniforms.offset, -camera.x * sx, down - camera.y * sy);
    gl.uniform1f(this.uniforms.size, size);
    gl.uniform1f(this.uniforms.pulse, pulse);
    gl.uniform1f(this.uniforms.dim, dim);
    gl.drawArrays(gl.POINTS, 0, this.n);
  }
}

function linkProgram(gl) {
  const program = gl.createProgram();
  for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  gl.useProgram(program);
  return program;
}
