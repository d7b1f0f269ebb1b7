// One- and two-dimensional automata: rules 30, 90 and 110, Langton's ant, a forest fire.
function wolfram(rule, width, generations) {
  let row = Array(width).fill(0);
  row[width >> 1] = 1;
  const lines = [];
  for (let g = 0; g < generations; g++) {
    lines.push(row.map((c) => (c ? '█' : ' ')).join('').trimEnd());
    row = row.map((_, i) => (rule >> ((row[i - 1] ?? 0) * 4 + row[i] * 2 + (row[i + 1] ?? 0))) & 1);
  }
  return lines.join('\n');
}

function ant(steps) {
  const black = new Set();
  let [x, y, dx, dy] = [0, 0, 0, -1];
  for (let i = 0; i < steps; i++) {
    const key = `${x},${y}`;
    if (black.has(key)) {
      black.delete(key);
      [dx, dy] = [dy, -dx];
    } else {
      black.add(key);
      [dx, dy] = [-dy, dx];
    }
    [x, y] = [x + dx, y + dy];
  }
  return { black: black.size, x, y };
}

function forest(width, height, days) {
  let seed = 11;
  const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647;
  let map = Array.from({ length: height }, () => Array.from({ length: width }, () => (random() < 0.62 ? '🌲' : '  ')));
  map[0][0] = '🔥';
  for (let day = 0; day < days; day++) {
    map = map.map((row, y) => row.map((cell, x) => {
      if (cell === '🔥') return '  ';
      const burning = [[1, 0], [-1, 0], [0, 1], [0, -1]].some(([i, j]) => map[y + j]?.[x + i] === '🔥');
      return cell === '🌲' && burning ? '🔥' : cell;
    }));
  }
  return map.map((row) => row.join('').trimEnd()).join('\n');
}

for (const rule of [30, 90, 110]) console.log(`rule ${rule}\n${wolfram(rule, 47, 12)}`);
console.log("Langton's ant:", ant(1000), ant(11000));
console.log(forest(16, 8, 9));
