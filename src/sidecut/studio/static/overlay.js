// What lies over the points: links, the two points of the question, the lasso, the cross of the keyboard.

export function drawOverlay(map) {
  const paper = map.overlay.getContext("2d"), ratio = map.ratio ?? 1;
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.clearRect(0, 0, map.camera.width, map.camera.height);
  const ink = getComputedStyle(map.box);
  const colors = {
    line: ink.getPropertyValue("--link"), wrong: ink.getPropertyValue("--wrong"),
    text: ink.getPropertyValue("--text"), ground: ink.getPropertyValue("--ground"),
    accent: ink.getPropertyValue("--accent"),
  };
  drawLinks(map, paper, colors);
  if (map.hovered >= 0) drawRing(paper, map.screenOf(map.hovered), 8, colors.text, 2);
  if (map.pair) drawQuestion(map, paper, colors);
  if (map.lasso) drawLasso(map, paper, colors);
  if (map.cursor) drawCross(paper, map.cursor, colors.accent);
}

// Together: solid. Apart: dashed. What the clusters do not keep: red and wide, drawn last.
function drawLinks(map, paper, colors) {
  for (const isWrong of [false, true]) {
    for (const isSame of [true, false]) {
      paper.beginPath();
      for (const line of map.lines) {
        if (line.violated !== isWrong || line.same !== isSame) continue;
        paper.moveTo(...map.screenOf(line.i));
        paper.lineTo(...map.screenOf(line.j));
      }
      paper.setLineDash(isSame ? [] : [5, 4]);
      paper.strokeStyle = isWrong ? colors.wrong : colors.line;
      paper.lineWidth = isWrong ? 2.5 : 1.2;
      paper.stroke();
    }
  }
  paper.setLineDash([]);
}

function drawQuestion(map, paper, colors) {
  const ends = map.pair.map((point) => map.screenOf(point));
  if (ends.length === 2) return drawPair(ends, paper, colors);
  ends.forEach((end, k) => {
    drawRing(paper, end, 10, colors.ground, 6);
    drawRing(paper, end, 10, colors.text, 2.5);
    if (ends.length > 1) drawTag(paper, [end[0] + 15, end[1] - 15], String(k + 1), colors);
  });
}

function drawPair(ends, paper, colors) {
  paper.beginPath();
  paper.moveTo(...ends[0]);
  paper.lineTo(...ends[1]);
  paper.setLineDash([2, 4]);
  paper.strokeStyle = colors.text;
  paper.lineWidth = 1.5;
  paper.stroke();
  paper.setLineDash([]);
  ends.forEach((end, k) => {
    drawRing(paper, end, 10, colors.ground, 6);
    drawRing(paper, end, 10, colors.text, 2.5);
    // Each letter on the side away from the other point.
    const side = end[0] < ends[1 - k][0] || (end[0] === ends[1 - k][0] && k === 0) ? -1 : 1;
    drawTag(paper, [end[0] + 15 * side, end[1] - 15], "AB"[k], colors);
  });
}

function drawRing(paper, [x, y], radius, color, width) {
  paper.beginPath();
  paper.arc(x, y, radius, 0, 2 * Math.PI);
  paper.strokeStyle = color;
  paper.lineWidth = width;
  paper.stroke();
}

function drawTag(paper, [x, y], letter, colors) {
  paper.beginPath();
  paper.arc(x, y, 9, 0, 2 * Math.PI);
  paper.fillStyle = colors.text;
  paper.fill();
  paper.fillStyle = colors.ground;
  paper.font = "600 11px system-ui, sans-serif";
  paper.textAlign = "center";
  paper.textBaseline = "middle";
  paper.fillText(letter, x, y + 0.5);
}

function drawLasso(map, paper, colors) {
  paper.beginPath();
  map.lasso.forEach(([x, y], k) => (k ? paper.lineTo(x, y) : paper.moveTo(x, y)));
  if (map.cursor) paper.lineTo(...map.cursor);
  paper.closePath();
  paper.globalAlpha = 0.12;
  paper.fillStyle = colors.accent;
  paper.fill();
  paper.globalAlpha = 1;
  paper.strokeStyle = colors.accent;
  paper.lineWidth = 2;
  paper.stroke();
}

function drawCross(paper, [x, y], color) {
  paper.beginPath();
  paper.moveTo(x - 12, y);
  paper.lineTo(x + 12, y);
  paper.moveTo(x, y - 12);
  paper.lineTo(x, y + 12);
  paper.strokeStyle = color;
  paper.lineWidth = 2;
  paper.stroke();
}
